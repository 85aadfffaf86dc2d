// One problem of one kernel, run on a device and compared in full with the kernel's oracle.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mt/harness/compile_times.h"
#include "mt/harness/runner.h"

namespace mt {

struct CaseResult {
  std::string kernel, dtype, problem, device;
  std::string tuned;  // tunables that a tuner chose for this problem, `threads=64, width=8`
  bool passed = false;
  bool empty = false;         // no output has elements: nothing was launched, nothing to compare
  std::int64_t compared = 0;  // elements
  double max_error = 0;       // absolute error of the worst element, measured against its bound
  double bound = 0;           // what that element may be off
  double ratio = 0;           // max_error / bound; above 1 where an element is wrong
  std::string error;          // sentences, where it failed
  double seconds = 0;
  std::vector<CompileTime> compiled;  // launches that no earlier case of the run had compiled
};

struct CaseOptions {
  bool repeat = false;  // run again and ask for equal bits
  bool alone = false;   // run items of the batch by themselves and ask for equal bits
  Overrides overrides;
};

/// Runs the case. Never throws Error: whatever goes wrong fails the case with a sentence.
///
/// Outputs and temporaries are poisoned before the run, every tensor lies between guard bands, inputs must be unchanged
/// after it, and every element of every output is compared with what the oracle expects.
CaseResult run_case(Runner& runner, const KernelEntry& entry, const Problem& problem, const CaseOptions& options = {});

/// What every way to run a case does around it: names, time, and a sentence for whatever `run` throws.
CaseResult timed_case(const Runner& runner, const KernelEntry& entry, const Problem& problem,
                      const std::function<void(CaseResult&)>& run);

}  // namespace mt
