// tile check: the test cases on a device that refuses whatever is undefined: the reference device, or the Metal text
// run with every access checked.
#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "cli/test.h"
#include "mt/harness/file.h"
#include "mt/harness/pass_report.h"
#include "mt/harness/table.h"

namespace mt {
namespace {

constexpr int kFailuresShown = 3;  // of one kernel and dtype

class Check : public Verb {
 public:
  Check()
      : Verb("check", "run the test cases with every check on: bounds, races, divergence, uninitialised reads",
             "  tile check\n  tile check sdpa --nan\n  tile check --device metal-host 'mt_*norm'\n  tile check "
             "--passes\n  tile check --passes rms_norm --all-cases "
             "-v\n") {}
  void declare(CLI::App& app) override {
    command_.declare(app);
    app.add_option("--device", device_, "interp, or metal-host: the Metal text, every access of it checked")
        ->check(CLI::IsMember({"interp", "metal-host"}))
        ->capture_default_str();
    app.add_flag("--nan", nan_, "an operation that makes a NaN of operands that are none is an error too");
    app.add_option("--max-steps", max_steps_, "steps of one threadgroup before it counts as endless")
        ->check(positive());
    app.add_option("--budget", budget_, "seconds of one threadgroup on metal-host before it counts as endless")
        ->check(positive());
    auto* passes = app.add_flag("--passes", passes_,
                                "run the kernel after each pass of each target too, and compare from pass to pass");
    app.add_flag("--all-cases", all_cases_,
                 "with --passes, every case; else one for each distinct kernel that the cases trace")
        ->needs(passes);
  }
  int run() override {
    if (passes_) return run_passes();
    command_.repeat = false;
    return run_test_cases(command_, [this] { return checking(device_); });
  }

 private:
  OpenDevice checking(const std::string& device) const {
    OpenDevice opened = open_device(device);
    const auto set = [&](const char* option, std::int64_t value) {
      if (!opened.device->set_option(option, value))
        throw UsageError(
            fmt::format("device {} has no switch {} for {}", opened.device->info().backend, option, value));
    };
    if (nan_) set("nan_birth", 1);
    if (max_steps_ > 0) set("max_steps", max_steps_);
    if (budget_ > 0) set("budget_ms", std::max<std::int64_t>(1, static_cast<std::int64_t>(1e3 * budget_)));
    if (device != "interp") set("check", 1);
    return opened;
  }

  int jobs() const {
    return command_.jobs > 0 ? command_.jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }
  int run_passes() const {
    if (device_ != "interp") throw UsageError("--passes runs on interp; leave --device out");
    const auto entries = command_.kernel.select();
    PassCheckOptions options{command_.problem.overrides(entries), command_.problem.problem(entries), all_cases_, jobs(),
                             [this] { return checking("interp"); }};
    const bool colour = colour_wanted(STDOUT_FILENO);
    std::FILE* to = command_.json == "-" ? stderr : stdout;
    std::string lines;
    std::map<std::string, int> failed;  // by kernel and dtype
    PassCheckTotals totals;
    {
      Progress progress;
      const PassCheckObserver observer{
          [&](const KernelEntry& e, std::size_t done, std::size_t total) {
            progress.show(fmt::format("{}/{}  {}", done + 1, total, e.id()));
          },
          [&](const PassCheckResult& r) {
            if (!command_.json.empty()) lines += pass_check_json(r) + "\n";
            if (!command_.verbose && (r.passed() || ++failed[r.kernel + "/" + r.dtype] > kFailuresShown)) return;
            progress.clear();
            fmt::print(to, "{}",
                       r.passed() ? fmt::format("ok   {}/{}/{} for {}: {} executions, {} compared\n", r.kernel, r.dtype,
                                                r.problem, r.targets, r.executed, grouped(r.compared))
                                  : failure_text(r, colour));
            std::fflush(to);
          }};
      totals = check_passes(entries, options, observer);
    }
    for (const auto& [pair, n] : failed)
      if (n > kFailuresShown)
        fmt::print(to, "... {}: {} more failed; -v or --json shows them\n", pair, n - kFailuresShown);
    if (!command_.json.empty()) write_file(command_.json, lines);
    fmt::print(to, "{}", totals_text(totals, colour));
    return totals.exit_code();
  }

  TestCommand command_;
  bool passes_ = false, all_cases_ = false;
  std::string device_ = "interp";
  bool nan_ = false;
  std::int64_t max_steps_ = 0;
  double budget_ = 0;
};

Check check;

}  // namespace
}  // namespace mt
