// What the compiler does with a kernel, stage by stage and pass by pass.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "mt/dsl/kernel.h"

namespace mt {

/// The kernel after one step of the pipeline; the first step is the trace itself.
struct Step {
  std::string pass;
  bool changed = true;
  double seconds = 0;
  Kernel kernel;
};

struct InspectedStage {
  std::string name;
  std::vector<Step> steps;  // in pipeline order
  const Kernel& final() const { return steps.back().kernel; }
};

/// Plans, traces and optimises as a launch on the target would. Throws Error.
std::vector<InspectedStage> inspect_kernel(const KernelEntry& entry, const Backend& target, const Problem& problem,
                                           const Overrides& overrides);

/// The text of all stages in the target's language. Throws Error where it has none.
Artefact artefact_of(const std::vector<InspectedStage>& stages, const Backend& target);

/// The IR after the named pass ("trace" for what was recorded), or after each one that changed it for "all", or after
/// all of them for "".
std::string ir_text(const std::vector<InspectedStage>& stages, const std::string& pass);

/// Instructions by kind after each pass, time for each, threads and threadgroup memory, and what the target's compiler
/// says where it is here.
std::string stats_text(const std::vector<InspectedStage>& stages, const Backend& target);

/// "trace" and the names of all passes, each once.
std::vector<std::string> pass_names();

}  // namespace mt
