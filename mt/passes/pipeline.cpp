#include "mt/passes/pipeline.h"

#include <fmt/format.h>

#include <chrono>

#include "mt/base/error.h"
#include "mt/ir/edit.h"
#include "mt/ir/text.h"
#include "mt/ir/verify.h"
#include "mt/passes/canonical.h"
#include "mt/passes/drop_barriers.h"
#include "mt/passes/infer_alignment.h"
#include "mt/passes/licm.h"
#include "mt/passes/lower_group_reduce.h"
#include "mt/passes/lower_panels.h"
#include "mt/passes/lower_simd_ranges.h"
#include "mt/passes/lower_tiles.h"
#include "mt/passes/mem2reg.h"
#include "mt/passes/simplify.h"
#include "mt/passes/split_offsets.h"
#include "mt/passes/vectorize_memory.h"

namespace mt {

const std::vector<Pass>& pipeline() {
  static const std::vector<Pass> passes = {
      {"mem2reg", "variables become results of ifs and carried values of loops", mem2reg},
      {"simplify", "fold, algebra, cse and dce until none finds anything", simplify},
      {"lower_tiles", "tiles become each lane's elements, and asynchronous copies what the target has", lower_tiles,
       true},
      {"lower_simd_ranges", "loops dealt to simdgroups get their bounds", lower_simd_ranges, true},
      {"lower_group_reduce", "group_reduce becomes simd_reduce, threadgroup memory and barriers", lower_group_reduce,
       true},
      {"simplify", "again, for what lowering made", simplify},
      {"split_offsets", "constants move out of widened indices", split_offsets},
      {"simplify", "again: constants gather at the end of addresses", simplify},
      {"vectorize_memory", "neighbouring loads and stores become wider ones", vectorize_memory},
      {"lower_panels", "panels get the order in which products of teams read them", lower_panels},
      {"simplify", "again, for the lanes of wider accesses", simplify},
      {"licm", "what a loop does not change moves in front of it", licm},
      {"simplify", "again, for what several loops computed", simplify},
      {"drop_barriers", "barriers that order nothing go", drop_barriers},
      {"infer_alignment", "what is known to divide the index of an access", infer_alignment},
      {"canonical", "one order for equal kernels", canonical},
  };
  return passes;
}

namespace {

bool writes(const Kernel& k) {
  bool found = false;
  walk(k, RegionId::Root, [&](InstId i) {
    const Inst& inst = k.at(i);
    const MemoryId m = written_by(inst);
    found |= m != MemoryId::None && k.at(m).space == Space::Device;
  });
  return found;
}

}  // namespace

void optimise(Kernel& kernel, const PipelineOptions& options, const PassObserver& observe) {
  for (const Pass& pass : pipeline()) {
    const auto start = std::chrono::steady_clock::now();
    const bool changed = pass.run(kernel, options);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (changed && !writes(kernel)) {
      const std::string place = to_string(kernel.loc);
      throw Error(
          fmt::format("{}{}[{}] no store can ever run, whatever the problem: a condition around it is never true "
                      "or a loop never has a trip; mend what it tests",
                      place, place.empty() ? "" : ": ", kernel.name));
    }
    if (options.verify_each && changed) {
      const std::string violations = verify(kernel);
      if (!violations.empty())
        MT_ICE(fmt::format("pass {} broke the kernel:\n{}{}", pass.name, violations, print(kernel)));
    }
    if (changed) compact(kernel);
    if (observe) observe(pass, changed, seconds.count(), kernel);
  }
}

}  // namespace mt
