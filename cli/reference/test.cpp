// tile test --reference mlx: the run and its table.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/reference/compare.h"
#include "cli/reference/devices.h"
#include "cli/reference/reference.h"
#include "mt/harness/file.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/jobs.h"
#include "mt/harness/stopwatch.h"
#include "mt/harness/table.h"

namespace mt {
namespace {

using reference::Comparison;
using Json = nlohmann::ordered_json;

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json judgement_json(const reference::Judgement& j) {
  Json all{{"right", j.right()}, {"max_error", number(j.error)}, {"bound_used", number(j.ratio)}};
  if (!j.wrong.empty()) all["error"] = j.wrong;
  return all;
}

std::string json_of(const Comparison& c) {
  Json j{
      {"kernel", c.kernel}, {"dtype", c.dtype}, {"case", c.problem}, {"mlx_kernel", c.mlx}, {"verdict", c.verdict()}};
  if (!c.missing.empty()) {
    j["missing"] = c.missing;
    return j.dump();
  }
  j["device"] = c.device;
  j["mlx_device"] = c.mlx_device;
  j["compared"] = c.compared;
  j["ours"] = judgement_json(c.ours);
  j["mlx"] = judgement_json(c.theirs);
  if (c.differs.empty()) {
    j["difference"] = number(c.difference);
    j["different"] = c.different;
  } else {
    j["differs"] = c.differs;
  }
  if (!c.allowance.empty()) j["allowance"] = c.allowance;
  return j.dump();
}

std::string ratio_text(const reference::Judgement& j) {
  if (!j.ran) return "not run";
  if (!j.wrong.empty()) return "wrong";
  return j.ratio == 0 ? "exact" : fmt::format("{:.3f}", j.ratio);
}

std::string difference_text(const Comparison& c) {
  if (!c.differs.empty()) return "-";
  if (!c.ours.ran || !c.theirs.ran) return "-";
  return c.different == 0 ? "equal"
                          : fmt::format("{:.2g} ({:.1f} %)", c.difference,
                                        100.0 * static_cast<double>(c.different) / static_cast<double>(c.compared));
}

/// A letter for each note under the table.
class Notes {
 public:
  std::string mark(const std::string& note) {
    if (note.empty()) return "";
    const auto it = std::find(all_.begin(), all_.end(), note);
    const auto n = static_cast<std::size_t>(it - all_.begin());
    if (it == all_.end()) all_.push_back(note);
    return std::string(1, static_cast<char>('a' + n % 26));
  }
  std::string text() const {
    std::string lines;
    for (std::size_t n = 0; n < all_.size(); ++n)
      lines += fmt::format("({}) {}\n", static_cast<char>('a' + n % 26), all_[n]);
    return lines;
  }

 private:
  std::vector<std::string> all_;
};

struct Shown {
  std::FILE* to = stdout;
  bool verbose = false, colour = false;
};

void show(const std::vector<Comparison>& all, const Shown& how) {
  using Align = Table::Align;
  Table table({{"kernel", Align::Left},
               {"MLX's kernel", Align::Left},
               {"ours/bound", Align::Right},
               {"MLX/bound", Align::Right},
               {"", Align::Left},
               {"ours - MLX", Align::Right},
               {"verdict", Align::Left},
               {"problem", Align::Left}});
  Notes notes;
  for (const Comparison& c : all) {
    if (!c.missing.empty()) continue;
    table.add({c.kernel + "/" + c.dtype, c.mlx, ratio_text(c.ours), ratio_text(c.theirs),
               notes.mark(c.differs.empty() ? c.allowance : c.differs), difference_text(c), c.verdict(), c.problem});
  }
  if (!table.empty()) fmt::print(how.to, "{}", table.text());
  if (const std::string text = notes.text(); !text.empty())
    fmt::print(how.to, "\nMLX/bound, where it is not the oracle's for f32 arithmetic:\n{}", text);
  std::set<std::string> told;  // what fails for one problem often fails for all
  for (const Comparison& c : all) {
    if (!c.missing.empty() || c.good() || !told.insert(c.ours.wrong + c.theirs.wrong).second) continue;
    fmt::print(how.to, "\n{} {}/{}/{} and {}\n", painted(c.verdict() + ":", "31", how.colour), c.kernel, c.dtype,
               c.problem, c.mlx);
    if (!c.ours.wrong.empty()) fmt::print(how.to, "  ours on {}: {}\n", c.device, c.ours.wrong);
    if (!c.theirs.wrong.empty()) fmt::print(how.to, "  MLX on {}: {}\n", c.mlx_device, c.theirs.wrong);
  }
}

}  // namespace

void ReferenceCommand::declare(CLI::App& app, bool with_cases) {
  auto* name = app.add_option("--reference", reference, "another library's Metal kernels beside ours: mlx")
                   ->check(CLI::IsMember({"mlx"}));
  auto* folder = app.add_option("--mlx", mlx,
                                "MLX's source tree, or the include folder of the PyPI package mlx-metal; $MT_MLX else")
                     ->type_name("DIR")
                     ->needs(name);
  (void)folder;
  if (with_cases)
    app.add_option("--cases", cases, "problems for each kernel of MLX; 0: all that both take")
        ->check(CLI::Range(0, 100000))
        ->needs(name)
        ->capture_default_str();
}

int ReferenceCommand::test(const Test& t) const {
  const reference::MlxTree tree(reference::folder_given(mlx));
  const auto entries = t.kernel.select();
  reference::ReferenceOptions options{cases, t.problem.problem(entries), t.problem.overrides(entries)};
  const std::string device = t.device.empty() ? "metal-host" : t.device;
  const OpenDevice opened = open_device(device);
  const auto [text, text_device] = reference::text_runner_for(*opened.backend);

  std::vector<reference::ReferenceCase> work;
  std::vector<std::string> without;
  for (const KernelEntry* e : entries) {
    auto some = reference::reference_cases(*e, options);
    if (some.empty() && (without.empty() || without.back() != e->name)) without.push_back(e->name);
    for (auto& one : some) work.push_back(std::move(one));
  }
  const Stopwatch watch;
  std::vector<std::vector<Comparison>> results(work.size());
  {
    Progress progress;
    std::mutex mutex;
    std::size_t done = 0;
    run_jobs(t.jobs > 0 ? t.jobs : opened.backend->test_jobs(), work.size(), [&, text = text, where = text_device] {
      struct Worker {
        std::unique_ptr<Device> device;
        Runner runner;
        Worker(const Backend& b, std::unique_ptr<Device> d) : device(std::move(d)), runner(b, *device) {}
      };
      const auto w = std::make_shared<Worker>(*opened.backend, open_device(device).device);
      return [&, w, text, where](std::size_t n) {
        check_interrupt();
        results[n] = reference::compare(w->runner, *text, where, tree, work[n], options.overrides);
        const std::lock_guard lock(mutex);
        progress.show(fmt::format("{}/{}  {}/{}", ++done, work.size(), work[n].entry->id(), work[n].problem.text()));
      };
    });
  }
  std::vector<Comparison> all;
  for (auto& some : results)
    for (Comparison& c : some) all.push_back(std::move(c));

  const Shown how{t.json == "-" ? stderr : stdout, t.verbose,
                  colour_wanted(t.json == "-" ? STDERR_FILENO : STDOUT_FILENO)};
  fmt::print(how.to, "MLX {} in {}; ours on {}, MLX's on {}\n", tree.version(), tree.root(), device, text_device);
  show(all, how);
  if (!t.json.empty()) {
    std::string lines;
    for (const Comparison& c : all) lines += json_of(c) + "\n";
    write_file(t.json, lines);
  }
  std::map<std::string, std::set<std::string>> missing;  // by sentence: our kernels
  std::set<std::string> theirs, pairs;
  std::int64_t compared = 0, bad = 0, ran = 0;
  for (const Comparison& c : all) {
    if (!c.missing.empty()) {
      missing[c.missing].insert(c.kernel);
      continue;
    }
    ++ran;
    bad += !c.good();
    compared += c.compared;
    if (c.theirs.ran) {
      theirs.insert(c.mlx);
      pairs.insert(c.kernel + "/" + c.dtype);
    }
  }
  for (const auto& [sentence, names] : missing)
    fmt::print(how.to, "not compared: {}: {}\n", fmt::join(names, ", "), sentence);
  if (!without.empty() && (t.verbose || !t.kernel.filters.empty()))
    fmt::print(how.to, "no counterpart in MLX is known of: {}\n", fmt::join(without, ", "));
  else if (!without.empty())
    fmt::print(how.to, "no counterpart in MLX is known of {} kernels; -v names them\n", without.size());
  fmt::print(how.to, "{} comparisons of {} kernels and dtypes with {} kernels of MLX, {} elements, {} in {}\n", ran,
             pairs.size(), theirs.size(), grouped(compared),
             bad ? painted(fmt::format("{} failed", bad), "31", how.colour) : painted("all agree", "32", how.colour),
             time_text(watch.seconds()));
  if (bad > 0) return kFailed;
  return compared > 0 ? kGood : kNothingRun;
}

}  // namespace mt
