// tile test, and the run that tile check shares.
#include "cli/test.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <map>

#include "cli/reference/reference.h"
#include "mt/harness/file.h"
#include "mt/harness/table.h"
#include "mt/harness/test_report.h"

namespace mt {
namespace {
constexpr int kFailuresShown = 3;     // of one kernel and dtype
constexpr double kLongCompile = 150;  // ms

/// `2/16`: the 2nd, 18th, 34th... of all; everything where it is empty. UsageError for anything else.
std::vector<const KernelEntry*> part_of(std::vector<const KernelEntry*> all, const std::string& part) {
  if (part.empty()) return all;
  std::size_t which = 0, parts = 0;
  const char* const end = part.data() + part.size();
  const auto first = std::from_chars(part.data(), end, which);
  const bool good = first.ec == std::errc{} && first.ptr != end && *first.ptr == '/' &&
                    std::from_chars(first.ptr + 1, end, parts).ptr == end && which >= 1 && which <= parts;
  if (!good) throw UsageError(fmt::format("--part {}: write I/N, with I from 1 to N", part));
  std::vector<const KernelEntry*> some;
  for (std::size_t i = which - 1; i < all.size(); i += parts) some.push_back(all[i]);
  return some;
}
}  // namespace

std::int64_t schedule_number(const std::string& text) {
  if (text == "forward") return 0;
  if (text == "reverse") return 1;
  const std::string random = "random:";
  std::uint32_t seed = 0;
  const char* const end = text.data() + text.size();
  if (text.size() > random.size() && text.starts_with(random)) {
    const auto [at, error] = std::from_chars(text.data() + random.size(), end, seed);
    if (error == std::errc{} && at == end) return std::int64_t{2} + seed;
  }
  throw UsageError(fmt::format("--schedule {}: write forward, reverse or random:SEED", text));
}

int run_test_cases(const TestCommand& command, const std::function<OpenDevice()>& open) {
  const auto entries = part_of(command.kernel.select(), command.part);
  TestOptions options{command.problem.overrides(entries), command.problem.problem(entries)};
  const std::unique_ptr<TunedStore> store = command.tuned.open();
  options.tuned = store.get();
  options.repeat = options.alone = command.repeat;  // the reference device is slow, and checks every access anyway
  const auto ready = [&] {
    OpenDevice made = open();
    if (!command.schedule.empty() && !made.device->set_option("schedule", schedule_number(command.schedule)))
      throw UsageError(fmt::format("device {} has no switch schedule; metal-host has", made.backend->name()));
    return made;
  };
  OpenDevice opened = ready();
  const DeviceInfo info = opened.device->info();
  const int jobs = command.jobs > 0 ? command.jobs : opened.backend->test_jobs();
  const bool colour = colour_wanted(STDOUT_FILENO);
  std::map<std::string, std::string> lines;  // by kernel and dtype
  TestTotals totals;
  std::map<std::string, int> failed;  // by kernel and dtype
  std::vector<CompileTime> compiled;
  {
    Progress progress;
    const TestObserver observer{
        [&](const KernelEntry& e, const Problem& p, std::size_t done, std::size_t total) {
          progress.show(fmt::format("{}/{}  {}/{}", done + 1, total, e.id(), p.text()));
        },
        [&](const CaseResult& r) {
          if (command.timings) compiled.insert(compiled.end(), r.compiled.begin(), r.compiled.end());
          if (!command.json.empty()) lines[r.kernel + "/" + r.dtype] += test_json(r) + "\n";
          if (r.passed && !command.verbose) return;
          if (!r.passed && !command.verbose && ++failed[r.kernel + "/" + r.dtype] > kFailuresShown) return;
          progress.clear();
          std::FILE* to = command.json == "-" ? stderr : stdout;
          if (!r.passed)
            fmt::print(to, "{}", failure_text(r, colour));
          else
            fmt::print(to, "ok   {}/{}/{}  {} compared, worst at {:.3f} of its bound, {}\n", r.kernel, r.dtype,
                       r.problem, grouped(r.compared), r.ratio, time_text(r.seconds));
          std::fflush(to);
        }};
    if (jobs == 1) {
      Runner runner(*opened.backend, *opened.device);
      totals = run_tests(runner, entries, options, observer);
    } else {
      const auto another = [&] {
        std::unique_ptr<Device> device = ready().device;
        device->set_option("threads", 1);
        return device;
      };
      totals = run_tests(*opened.backend, another, jobs, entries, options, observer);
    }
  }
  TunedOption::report(store.get());
  for (const auto& [pair, n] : failed)
    if (n > kFailuresShown)
      fmt::print(command.json == "-" ? stderr : stdout, "... {}: {} more failed; -v or --json shows them\n", pair,
                 n - kFailuresShown);
  if (!command.json.empty()) {
    std::string all;
    for (const KernelEntry* e : entries) all += lines[e->id()];
    write_file(command.json, all);
  }
  if (command.timings)
    fmt::print(command.json == "-" ? stderr : stdout, "{}", compile_times_text(compiled, kLongCompile));
  fmt::print(command.json == "-" ? stderr : stdout, "{}", totals_text(totals, info.backend, colour));
  return totals.exit_code();
}

void TestCommand::declare(CLI::App& app) {
  kernel.declare(app);
  problem.declare(app);
  app.add_option("--json", json, "also one JSON object a case to this file (- is the standard output)")
      ->type_name("FILE");
  app.add_option("--part", part, "only the I-th of N parts of the kernels, to share them among processes")
      ->type_name("I/N");
  app.add_option("--schedule", schedule,
                 "order of threads and threadgroups on metal-host: forward, reverse or random:SEED");
  app.add_option("--jobs", jobs, "kernels at a time, each on a device of its own; what suits the device where absent")
      ->check(CLI::Range(1, 1024));
  tuned.declare(app);
  app.add_flag("--timings", timings, "also how long the device took to compile, median and longest");
  app.add_flag("-v,--verbose", verbose, "a line for each case, not only for those that fail");
}

namespace {

class Test : public Verb {
 public:
  Test()
      : Verb("test", "compare kernels with their oracles, every element of every case",
             "  tile test\n  tile test 'mt_*norm' --dtype bf16\n  tile test --json results.jsonl\n"
             "  tile test softmax --size n=1000 -v\n  tile test --reference mlx --mlx DIR rms_norm sdpa qmv\n") {}
  void declare(CLI::App& app) override {
    command_.declare(app);
    app.add_option("--device", device_, "where kernels run; the best present where absent");
    reference_.declare(app, true);
  }
  int run() override {
    if (reference_.wanted()) {
      if (!command_.part.empty() || !command_.schedule.empty())
        throw UsageError("--part and --schedule have no meaning beside --reference");
      return reference_.test(
          {command_.kernel, command_.problem, device_, command_.json, command_.verbose, command_.jobs});
    }
    return run_test_cases(command_, [this] { return open_device(device_); });
  }

 private:
  TestCommand command_;
  ReferenceCommand reference_;
  std::string device_;
};

Test test;

}  // namespace
}  // namespace mt
