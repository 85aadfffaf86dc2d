// What tile bench and tile snap have in common.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "cli/verb.h"

namespace mt {

struct BenchCommand {
  KernelOptions kernel;
  ProblemOptions problem;
  std::string device, json, peer;
  double seconds = 0;
  bool quick = false;

  void declare(CLI::App& app);
  /// Measures and reports; gives the exit code.
  int run() const;

 private:
  using Case = std::pair<const KernelEntry*, Problem>;
  std::vector<Case> select_problems(const std::vector<const KernelEntry*>& entries) const;
};

}  // namespace mt
