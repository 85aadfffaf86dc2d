// What tile bench and tile snap have in common.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/tune.h"
#include "cli/verb.h"
#include "mt/harness/bench.h"

namespace mt {

struct BenchCommand {
  KernelOptions kernel;
  ProblemOptions problem;
  std::string device, json, peer, sweep;
  double seconds = 0;
  bool quick = false;
  TunedOption tuned;

  void declare(CLI::App& app);
  /// Measures and reports; gives the exit code.
  int run() const;

 private:
  /// Kernels side by side over the values of a size.
  int run_sweep() const;
};

/// A device, and how to measure on it.
struct BenchSession {
  BenchSession(const BenchCommand& command, const std::vector<const KernelEntry*>& entries);
  OpenDevice opened;
  Runner runner;
  std::unique_ptr<TunedStore> store;
  BenchOptions options;
  std::unique_ptr<CeilingSource> ceiling;
};

/// What kernels are measured on, with the sizes of `changes` laid over it: all bench problems, or the first of each
/// kernel; of all entries, or of the first one of each name.
std::vector<BenchProblem> bench_problems(const std::vector<const KernelEntry*>& entries, const Problem& changes,
                                         bool first_problem, bool first_dtype);

}  // namespace mt
