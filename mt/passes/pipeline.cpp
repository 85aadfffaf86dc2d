#include "mt/passes/pipeline.h"

#include <fmt/format.h>

#include <chrono>

#include "mt/base/error.h"
#include "mt/ir/edit.h"
#include "mt/ir/text.h"
#include "mt/ir/verify.h"
#include "mt/passes/dce.h"
#include "mt/passes/mem2reg.h"

namespace mt {

const std::vector<Pass>& pipeline() {
  static const std::vector<Pass> passes = {
      {"mem2reg", "variables become values", mem2reg},
      {"dce", "what no effect needs goes", dce},
  };
  return passes;
}

void optimise(Kernel& kernel, const PipelineOptions& options, const PassObserver& observe) {
  for (const Pass& pass : pipeline()) {
    const auto start = std::chrono::steady_clock::now();
    const bool changed = pass.run(kernel, options);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
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
