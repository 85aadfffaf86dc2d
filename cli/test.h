// What tile test and tile check have in common.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "cli/tune.h"
#include "cli/verb.h"

namespace mt {

struct TestCommand {
  KernelOptions kernel;
  ProblemOptions problem;
  std::string json, part, schedule;
  bool verbose = false;
  bool timings = false;
  int jobs = 0;  // kernels at a time; 0: what the backend says
  bool repeat = true;
  TunedOption tuned;
  void declare(CLI::App& app);
};

/// `forward`, `reverse` or `random:SEED` as the number of a device's switch "schedule". UsageError for anything else.
std::int64_t schedule_number(const std::string& text);

/// Runs the cases on devices that `open` gives, and reports them; gives the exit code.
int run_test_cases(const TestCommand& command, const std::function<OpenDevice()>& open);

}  // namespace mt
