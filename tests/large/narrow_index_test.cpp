// Faults that only tensors of more than 2^31 elements show: an index that is cut to what a signed 32-bit integer holds.
#include <gtest/gtest.h>

#include "mt/faults/place.h"
#include "mt/ir/edit.h"
#include "tests/large/problems.h"

namespace mt {
namespace {

/// The call with bit 31 and all above it gone from the 64-bit indices of tensors with more than 2^31 elements. They
/// stay inside the tensors, so that the fault is a wrong element and not a trap. `count` receives how many there are.
Call narrowed(const Call& call, std::size_t& count) {
  std::vector<Kernel> kernels;
  for (const PreparedStage& stage : call.stages()) {
    if (kernels.size() <= stage.index) kernels.resize(stage.index + 1);
    Kernel& k = kernels[stage.index] = stage.compiled.kernel;
    std::vector<std::pair<InstId, std::size_t>> accesses;  // and which operand is the index
    walk(k, RegionId::Root, [&](InstId id) {
      const Inst& i = k.at(id);
      const bool copy = i.op == Op::CopyAsync;  // from a tensor, its second index
      const MemoryId memory = copy ? i.from : i.memory;
      const std::size_t at = copy ? 1 : 0;
      if (memory == MemoryId::None || k.at(memory).space != Space::Device) return;
      if (size_of(k.type(i.in[at]).dtype) != 8) return;
      for (const TensorSlot& slot : call.tensors())
        if (slot.param->name == k.at(memory).name && slot.count > std::int64_t{1} << 31) accesses.emplace_back(id, at);
    });
    for (const auto& [id, at] : accesses) {
      const ValueId index = k.at(id).in[at];
      Builder before = Place(k, id).before();
      const ValueId low = before.binary(Op::And, index, before.constant_int(k.type(index).dtype, 0x7fffffff));
      k.at(id).in[at] = low;
    }
    count += accesses.size();
  }
  return call.with_kernels(kernels);
}

TEST(Large, IndicesOf31BitsAreCaughtInEveryKernel) {
  Cpu cpu;
  for_each_large([&](const KernelEntry& entry, const Problem& problem) {
    std::size_t count = 0;
    const auto change = [&](const Call& whole) { return narrowed(whole, count); };
    const CaseResult r = run_last_item(cpu.runner, entry, problem, change);
    EXPECT_GT(count, 0u) << entry.id() << " has no 64-bit index";
    EXPECT_FALSE(r.passed) << entry.id() << " " << r.problem << ": nothing is wrong with indices of 31 bits";
  });
}

}  // namespace
}  // namespace mt
