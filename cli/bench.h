// What tile bench and tile snap have in common.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "cli/tune.h"
#include "cli/verb.h"

namespace mt {

struct BenchCommand {
  KernelOptions kernel;
  ProblemOptions problem;
  std::string device, json, peer;
  double seconds = 0;
  bool quick = false;
  TunedOption tuned;

  void declare(CLI::App& app);
  /// Measures and reports; gives the exit code.
  int run() const;
};

using BenchProblem = std::pair<const KernelEntry*, Problem>;
/// What kernels are measured on, with the sizes of `changes` laid over it: all bench problems, or the first of each
/// kernel; of all entries, or of the first one of each name.
std::vector<BenchProblem> bench_problems(const std::vector<const KernelEntry*>& entries, const Problem& changes,
                                         bool first_problem, bool first_dtype);

}  // namespace mt
