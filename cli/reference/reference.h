// `--reference mlx` of tile test and tile bench.
#pragma once
#include <string>

#include "cli/verb.h"

namespace mt {

struct ReferenceCommand {
  std::string reference, mlx;
  int cases = 3;
  void declare(CLI::App& app, bool with_cases);
  bool wanted() const { return !reference.empty(); }

  struct Test {
    const KernelOptions& kernel;
    const ProblemOptions& problem;
    std::string device, json;
    bool verbose = false;
    int jobs = 0;
  };
  /// Compares ours, MLX's and the oracle; gives the exit code.
  int test(const Test& test) const;

  struct Bench {
    const KernelOptions& kernel;
    const ProblemOptions& problem;
    std::string device, json;
    double seconds = 0;
    bool quick = false;
  };
  /// Times ours and MLX's on the same device, in turns; gives the exit code.
  int bench(const Bench& bench) const;
};

}  // namespace mt
