// tile check: the test cases on the reference device, which refuses whatever is undefined.
#include <fmt/format.h>

#include "cli/test.h"

namespace mt {
namespace {

class Check : public Verb {
 public:
  Check()
      : Verb("check", "run the test cases with every check on: bounds, races, divergence, uninitialised reads",
             "  tile check\n  tile check sdpa --nan\n") {}
  void declare(CLI::App& app) override {
    command_.declare(app);
    app.add_flag("--nan", nan_, "an operation that makes a NaN of operands that are none is an error too");
    app.add_option("--max-steps", max_steps_, "steps of one threadgroup before it counts as endless")
        ->check(positive());
  }
  int run() override {
    OpenDevice opened = open_device("interp");
    const auto set = [&](const char* option, std::int64_t value) {
      if (!opened.device->set_option(option, value))
        throw UsageError(
            fmt::format("device {} has no switch {} for {}", opened.device->info().backend, option, value));
    };
    if (nan_) set("nan_birth", 1);
    if (max_steps_ > 0) set("max_steps", max_steps_);
    command_.repeat = false;
    return run_test_cases(command_, std::move(opened));
  }

 private:
  TestCommand command_;
  bool nan_ = false;
  std::int64_t max_steps_ = 0;
};

Check check;

}  // namespace
}  // namespace mt
