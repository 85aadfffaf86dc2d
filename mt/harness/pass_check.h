// A kernel executed after each pass of each target: what a pass breaks is named with the pass.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mt/harness/inspect.h"
#include "mt/harness/select.h"

namespace mt {

/// One kernel and problem through the passes of one or several targets that compile it alike.
struct PassCheckResult {
  std::string kernel, dtype, problem, targets;
  int executed = 0;           // kernels run: as traced, and after each pass that changed something
  std::int64_t compared = 0;  // elements, over all of them
  std::string pass;           // the first that broke something; "trace" where the traced kernel is wrong
  std::string error;          // empty where all is right
  bool passed() const { return error.empty(); }
};

struct PassCheckTotals {
  std::int64_t kernels = 0, pairs = 0, cases = 0, failed = 0, executed = 0, compared = 0;
  std::vector<std::string> unchecked;  // kernel/dtype of pairs where nothing was compared
  double seconds = 0;
  /// 0 all passed, 1 something failed, 3 nothing was compared for some kernel and dtype.
  int exit_code() const;
};

struct PassCheckOptions {
  Overrides overrides;
  Problem changes;         // laid over every case
  bool all_cases = false;  // else one case for each distinct kernel that the cases trace
  int jobs = 1;
  std::function<OpenDevice()> open;  // the reference device, once a worker
};

/// Called by one worker at a time.
struct PassCheckObserver {
  std::function<void(const KernelEntry&, std::size_t done, std::size_t total)> before;  // entries
  std::function<void(const PassCheckResult&)> after;
};

/// Runs the cases. Throws Interrupted after Ctrl-C.
PassCheckTotals check_passes(const std::vector<const KernelEntry*>& entries, const PassCheckOptions& options,
                             const PassCheckObserver& observer);

/// Executes `problem` on `reference` with the kernel as it was traced and after every step that changed it. Outputs
/// keep their bits from step to step, or where a pass reorders the bound of the oracle; they are always within that
/// bound. No step may lose a store (see lost_store). Never throws Error.
PassCheckResult check_steps(const KernelEntry& entry, const Problem& problem, const Overrides& overrides,
                            const Backend& target, const std::vector<InspectedStage>& stages, OpenDevice& reference);

/// The sentence of the first store or atomic on device memory that `before` has and `after` lacks with no reason to be
/// seen: the `if` or loop around it is still there, and no wider store took its elements. Empty where there is none.
std::string lost_store(const Kernel& before, const Kernel& after);

}  // namespace mt
