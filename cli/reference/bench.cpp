// tile bench --reference mlx: our kernels and MLX's in turns on one device.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/reference/compare.h"
#include "cli/reference/devices.h"
#include "cli/reference/reference.h"
#include "mt/harness/file.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/names.h"
#include "mt/harness/statistics.h"
#include "mt/harness/stopwatch.h"
#include "mt/harness/table.h"
#include "mt/harness/test_run.h"
#include "mt/harness/verified.h"

namespace mt {
namespace {

using namespace reference;

struct Timed {
  Comparison verified;
  Summary ours, theirs;
  std::string error;
};

/// Both must run on the device.
OpenDevice open_for_text(const std::string& name) {
  OpenDevice opened = open_beside_text(name);
  if (!opened.backend->text_runner())
    throw UsageError(
        fmt::format("device {} can't run MLX's Metal text beside our kernels; metal, on a Mac, can", name));
  return opened;
}

/// Problems to time: the kernel's benches on a GPU; on emulated ones what its tests have that is small.
std::vector<ReferenceCase> cases_of(const KernelEntry& e, bool emulated, bool quick, const ReferenceOptions& options) {
  if (emulated) return reference_cases(e, options);
  const Family* family = family_of_kernel(e.name);
  std::vector<ReferenceCase> all;
  if (!family) return all;
  for (const Problem& p : e.make()->benches()) {
    const Problem problem = overlaid(p, options.changes);
    ReferenceCase one{&e, problem, family->counterparts(e, problem)};
    if (!one.counterparts.empty()) all.push_back(std::move(one));
    if (quick && !all.empty()) break;
  }
  return all;
}

/// A case for each of MLX's kernels: which of several its host would choose depends on the chip.
std::vector<ReferenceCase> one_by_one(const std::vector<ReferenceCase>& all) {
  std::vector<ReferenceCase> each;
  for (const ReferenceCase& some : all)
    for (const Counterpart& c : some.counterparts) each.push_back({some.entry, some.problem, {c}});
  return each;
}

Timed timed(Runner& runner, const TextRunner& text, const std::string& where, const MlxTree& tree,
            const ReferenceCase& one, const ReferenceOptions& options, const StoppingCriterion& stop) {
  Timed t;
  t.verified = compare(runner, text, where, tree, one, options.overrides).front();
  if (!t.verified.good()) return t;
  const Counterpart& c = one.counterparts.front();
  try {
    const Call call = runner.prepare(*one.entry, one.problem, options.overrides);
    const auto inputs = make_inputs(call.tensors(), one.problem);
    TensorSet set(runner.device(), call);
    set.reset(inputs);
    auto tensors = with_room(inputs, call, c);
    const std::unique_ptr<Recording> recording = runner.device().record([&] { set.bound().run(); });
    const auto our_sample = [&] {
      if (recording) return recording->run();
      const Stopwatch watch;
      set.bound().run();
      runner.device().wait();
      return watch.seconds();
    };
    std::vector<double> ours, theirs;
    const Stopwatch watch;
    while (!stop.enough(ours, watch.seconds()) || !stop.enough(theirs, watch.seconds())) {
      check_interrupt();
      ours.push_back(our_sample());
      theirs.push_back(run_counterpart(text, tree, c, tensors));
    }
    t.ours = summarise(ours);
    t.theirs = summarise(theirs);
  } catch (const Error& e) {
    t.error = e.what();
  }
  return t;
}

std::string json_of(const Timed& t, bool emulated) {
  const Comparison& c = t.verified;
  nlohmann::ordered_json j{
      {"kernel", c.kernel}, {"dtype", c.dtype}, {"case", c.problem}, {"mlx_kernel", c.mlx}, {"verdict", c.verdict()}};
  if (!c.missing.empty()) j["missing"] = c.missing;
  if (!t.error.empty()) j["error"] = t.error;
  if (t.ours.count > 0 && t.theirs.count > 0) {
    j["device"] = c.device;
    j["emulated"] = emulated;
    j["ours_seconds"] = t.ours.median;
    j["mlx_seconds"] = t.theirs.median;
    j["samples"] = t.ours.count;
  }
  return j.dump() + "\n";
}

}  // namespace

int ReferenceCommand::bench(const Bench& b) const {
  const MlxTree tree(folder_given(mlx));
  const auto entries = b.kernel.select();
  const OpenDevice opened = open_for_text(b.device);
  const auto [text, where] = text_runner_for(*opened.backend);
  const bool emulated = text->emulates();
  const ReferenceOptions options{1, b.problem.problem(entries), b.problem.overrides(entries)};
  StoppingCriterion stop;
  stop.least = b.quick || emulated ? 7 : 15;
  stop.seconds = b.seconds > 0 ? b.seconds : b.quick || emulated ? 0.25 : 1.5;
  Runner runner(*opened.backend, *opened.device);

  std::FILE* to = b.json == "-" ? stderr : stdout;
  const bool colour = colour_wanted(fileno(to));
  fmt::print(to, "MLX {} in {}; both on {}\n", tree.version(), tree.root(), opened.backend->name());
  if (emulated)
    fmt::print(to, "{} runs a GPU's threads on the host's cores: these times say nothing about a GPU\n",
               opened.backend->name());
  fmt::print(to, "{:>11} {:>11} {:>9}  {}\n", "ours", "MLX", "MLX/ours", "kernel/dtype/problem, MLX's kernel");
  std::string lines;
  std::int64_t timings = 0, failed = 0;
  for (const KernelEntry* e : entries)
    for (const ReferenceCase& one : one_by_one(cases_of(*e, emulated, b.quick, options))) {
      check_interrupt();
      const Timed t = timed(runner, *text, where, tree, one, options, stop);
      const Comparison& c = t.verified;
      lines += json_of(t, emulated);
      const std::string name = fmt::format("{}/{}/{}, {}", c.kernel, c.dtype, c.problem, c.mlx);
      if (!c.missing.empty()) {
        fmt::print(to, "not compared: {}: {}\n", c.kernel, c.missing);
      } else if (!c.good() || !t.error.empty()) {
        ++failed;
        fmt::print(to, "{} {}: {}{}{}\n", painted("not timed:", "31", colour), name,
                   t.error.empty() ? c.verdict() + "; " : t.error, c.ours.wrong, c.theirs.wrong);
      } else {
        ++timings;
        fmt::print(to, "{:>11} {:>11} {:>9.2f}  {}{}\n", time_text(t.ours.median), time_text(t.theirs.median),
                   t.theirs.median / t.ours.median, name, emulated ? " (emulated)" : "");
      }
      std::fflush(to);
    }
  if (!b.json.empty()) write_file(b.json, lines);
  fmt::print(to, "{} timed, {} not\n", timings, failed);
  if (failed > 0) return kFailed;
  return timings > 0 ? kGood : kNothingRun;
}

}  // namespace mt
