// All test cases of a selection of kernels.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mt/harness/test_case.h"

namespace mt {

struct TestTotals {
  std::int64_t kernels = 0;  // names
  std::int64_t pairs = 0;    // kernel x dtype
  std::int64_t cases = 0, failed = 0, empty = 0;
  std::int64_t tuned = 0;     // cases that ran with what a tuner chose
  std::int64_t compared = 0;  // elements
  /// kernel/dtype of pairs where no case compared an element.
  std::vector<std::string> unchecked;
  double seconds = 0;
  /// 0 all passed, 1 something failed, 3 some kernel and dtype, or all, had nothing compared.
  int exit_code() const;
};

struct TestOptions {
  Overrides overrides;
  Problem changes;                    // laid over every case; cases that become equal run once
  bool repeat = true;                 // the first case of each kernel and dtype that compares something is run twice
  bool alone = true;                  // items of every batch are also run by themselves
  bool derived = true;                // with the cases that follow from the kernel's own, where there are no changes
  const TunedStore* tuned = nullptr;  // choices to use where a case and `overrides` make none
};

/// Called before each case (`done` of `total` are finished) and after it.
struct TestObserver {
  std::function<void(const KernelEntry&, const Problem&, std::size_t done, std::size_t total)> before;
  std::function<void(const CaseResult&)> after;
};

/// Runs the cases in order. Throws Interrupted after Ctrl-C.
TestTotals run_tests(Runner& runner, const std::vector<const KernelEntry*>& entries, const TestOptions& options,
                     const TestObserver& observer);

/// The same on `jobs` devices at a time, which `open` gives; a kernel's cases run on one of them. The observer is
/// called from one thread at a time; cases of different kernels come in any order.
TestTotals run_tests(const Backend& backend, const std::function<std::unique_ptr<Device>()>& open, int jobs,
                     const std::vector<const KernelEntry*>& entries, const TestOptions& options,
                     const TestObserver& observer);

/// `base` with the sizes and real parameters of `changes` laid over it.
Problem overlaid(Problem base, const Problem& changes);

}  // namespace mt
