// What tile test and tile check have in common.
#pragma once
#include <string>

#include "cli/verb.h"

namespace mt {

struct TestCommand {
  KernelOptions kernel;
  ProblemOptions problem;
  std::string json, part;
  bool verbose = false;
  bool repeat = true;
  void declare(CLI::App& app);
};

/// Runs the cases on an opened device and reports them; gives the exit code.
int run_test_cases(const TestCommand& command, OpenDevice opened);

}  // namespace mt
