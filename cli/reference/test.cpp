// tile test --reference mlx: the run and its table.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

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

/// Rows as they come; widths are those of the work.
class Rows {
 public:
  Rows(std::FILE* to, bool colour, const std::vector<reference::ReferenceCase>& work) : to_(to), colour_(colour) {
    for (const auto& one : work) {
      kernel_ = std::max(kernel_, one.entry->id().size());
      for (const auto& c : one.counterparts) mlx_ = std::max(mlx_, c.name.size());
    }
  }
  void add(const Comparison& c) {
    if (!c.missing.empty()) return;
    if (!std::exchange(begun_, true))
      line("kernel", "MLX's kernel", "ours/bound", "MLX/bound", "", "ours - MLX", "verdict", "problem");
    line(c.kernel + "/" + c.dtype, c.mlx, ratio_text(c.ours), ratio_text(c.theirs),
         notes_.mark(c.differs.empty() ? c.allowance : c.differs), difference_text(c), c.verdict(), c.problem);
    // What fails for one problem often fails for all.
    if (c.good() || !told_.insert(c.ours.wrong + c.theirs.wrong).second) return;
    fmt::print(to_, "{} {}/{}/{} and {}\n", painted(c.verdict() + ":", "31", colour_), c.kernel, c.dtype, c.problem,
               c.mlx);
    if (!c.ours.wrong.empty()) fmt::print(to_, "  ours on {}: {}\n", c.device, c.ours.wrong);
    if (!c.theirs.wrong.empty()) fmt::print(to_, "  MLX on {}: {}\n", c.mlx_device, c.theirs.wrong);
  }
  void end() {
    if (const std::string text = notes_.text(); !text.empty())
      fmt::print(to_, "\nMLX/bound, where it is not the oracle's for f32 arithmetic:\n{}", text);
    std::fflush(to_);
  }

 private:
  void line(const std::string& kernel, const std::string& mlx, const std::string& ours, const std::string& theirs,
            const std::string& note, const std::string& difference, const std::string& verdict,
            const std::string& problem) {
    fmt::print(to_, "{:<{}}  {:<{}}  {:>10}  {:>9} {:1}  {:>17}  {:<17}  {}\n", kernel, kernel_, mlx, mlx_, ours,
               theirs, note, difference, verdict, problem);
    std::fflush(to_);
  }
  std::FILE* to_;
  bool colour_, begun_ = false;
  std::size_t kernel_ = 6, mlx_ = 12;
  Notes notes_;
  std::set<std::string> told_;
};

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
  const OpenDevice opened = reference::open_beside_text(t.device);
  const std::string device = opened.device->info().backend;
  const auto [texts, text_device] = reference::text_runner_for(*opened.backend);

  std::vector<reference::ReferenceCase> work;
  std::vector<std::string> unknown, unfit;  // our kernels
  for (const KernelEntry* e : entries) {
    auto some = reference::reference_cases(*e, options);
    auto& without = reference::family_of_kernel(e->name) ? unfit : unknown;
    if (some.empty() && (without.empty() || without.back() != e->name)) without.push_back(e->name);
    for (auto& one : some) work.push_back(std::move(one));
  }
  const Stopwatch watch;
  std::FILE* const to = t.json == "-" ? stderr : stdout;
  const bool colour = colour_wanted(fileno(to));
  fmt::print(to, "MLX {} in {}; ours on {}, MLX's on {}\n", tree.version(), tree.root(), device, text_device);
  std::vector<std::optional<std::vector<Comparison>>> results(work.size());
  {
    Progress progress;
    Rows rows(to, colour, work);
    std::mutex mutex;
    std::size_t done = 0, shown = 0;
    run_jobs(t.jobs > 0 ? t.jobs : opened.backend->test_jobs(), work.size(), [&, text = texts, where = text_device] {
      struct Worker {
        std::unique_ptr<Device> device;
        Runner runner;
        Worker(const Backend& b, std::unique_ptr<Device> d) : device(std::move(d)), runner(b, *device) {}
      };
      const auto w = std::make_shared<Worker>(*opened.backend, reference::open_beside_text(t.device).device);
      return [&, w, text, where](std::size_t n) {
        check_interrupt();
        auto made = reference::compare(w->runner, *text, where, tree, work[n], options.overrides);
        const std::lock_guard lock(mutex);
        results[n] = std::move(made);
        progress.clear();
        for (; shown < results.size() && results[shown]; ++shown)
          for (const Comparison& c : *results[shown]) rows.add(c);
        progress.show(fmt::format("{}/{}  {}/{}", ++done, work.size(), work[n].entry->id(), work[n].problem.text()));
      };
    });
    progress.clear();
    rows.end();
  }
  std::string lines;
  std::map<std::string, std::set<std::string>> missing;  // by sentence: our kernels
  std::set<std::string> theirs, pairs;
  std::int64_t compared = 0, bad = 0, ran = 0;
  for (const auto& some : results)
    for (const Comparison& c : *some) {
      lines += json_of(c) + "\n";
      if (!c.missing.empty()) {
        missing[c.missing].insert(c.kernel);
        continue;
      }
      ++ran;
      bad += !c.good();
      compared += c.compared;
      if (!c.theirs.ran) continue;
      theirs.insert(c.mlx);
      pairs.insert(c.kernel + "/" + c.dtype);
    }
  if (!t.json.empty()) write_file(t.json, lines);
  for (const auto& [sentence, names] : missing)
    fmt::print(to, "not compared: {}: {}\n", fmt::join(names, ", "), sentence);
  if (!unfit.empty())
    fmt::print(to, "not compared: {}: MLX's kernel takes none of these problems\n", fmt::join(unfit, ", "));
  if (!unknown.empty() && (t.verbose || !t.kernel.filters.empty()))
    fmt::print(to, "no counterpart in MLX is known of: {}\n", fmt::join(unknown, ", "));
  else if (!unknown.empty())
    fmt::print(to, "no counterpart in MLX is known of {} kernels; -v names them\n", unknown.size());
  const std::string verdict = bad > 0         ? painted(fmt::format("{} failed", bad), "31", colour)
                              : compared == 0 ? painted("nothing was compared", "31", colour)
                                              : painted("all agree", "32", colour);
  fmt::print(to, "{} comparisons of {} kernels and dtypes with {} kernels of MLX, {} elements: {}, in {}\n", ran,
             pairs.size(), theirs.size(), grouped(compared), verdict, time_text(watch.seconds()));
  if (bad > 0) return kFailed;
  return compared > 0 ? kGood : kNothingRun;
}

}  // namespace mt
