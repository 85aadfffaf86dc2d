// tile tune: the fastest tunables of kernels on their bench problems, kept for the other verbs.
#include "cli/tune.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <thread>

#include <nlohmann/json.hpp>

#include "cli/bench.h"
#include "cli/verb.h"
#include "mt/harness/file.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/table.h"
#include "mt/harness/tune.h"

namespace mt {
namespace {

std::string today() {
  const std::time_t t = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&t, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%F", &utc);
  return text;
}

/// Processes that each do a part of the work and leave nothing but what they write to disk. They start before this one
/// opens a device: what a driver holds is lost in a copy of the process.
class Crew {
 public:
  Crew(std::size_t count, const std::function<void(std::size_t part)>& work) {
    for (std::size_t part = 0; part < count; ++part) {
      const pid_t id = fork();
      if (id < 0) break;  // what it would have done is done later
      if (id > 0) {
        members_.push_back(id);
        continue;
      }
      signal(SIGINT, SIG_DFL);
      signal(SIGTERM, SIG_DFL);
      try {
        work(part);
      } catch (...) {  // found again, and told, by the process that times
      }
      _exit(0);
    }
  }
  ~Crew() {
    for (const pid_t id : members_) kill(id, SIGTERM);
    for (const pid_t id : members_) waitpid(id, nullptr, 0);
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  /// Throws Interrupted after Ctrl-C.
  void wait() {
    while (!members_.empty()) {
      check_interrupt();
      const pid_t done = waitpid(members_.back(), nullptr, WNOHANG);
      if (done == members_.back() || (done < 0 && errno == ECHILD))
        members_.pop_back();
      else
        usleep(2000);
    }
  }

 private:
  std::vector<pid_t> members_;
};

nlohmann::ordered_json json_of(const TuneResult& r) {
  nlohmann::ordered_json j{{"kernel", r.kernel}, {"dtype", r.dtype}, {"problem", r.problem}, {"device", r.device}};
  if (!r.error.empty()) {
    j["error"] = r.error;
    return j;
  }
  j["planned_ns"] = 1e9 * r.planned.time.median;
  j["planned_spread"] = r.planned.time.spread();
  j["best_ns"] = 1e9 * r.best.time.median;
  j["best_spread"] = r.best.time.spread();
  j["best"] = r.best.chosen;
  j["improved"] = r.improved;
  j["left_out"] = r.left_out;
  for (const Candidate& c : r.candidates) {
    nlohmann::ordered_json one{{"chosen", c.chosen}, {"fate", name_of(c.fate)}};
    if (c.brief > 0) one["brief_ns"] = 1e9 * c.brief;
    if (c.time.count > 0) one["ns"] = 1e9 * c.time.median;
    if (!c.why.empty()) one["why"] = c.why;
    j["candidates"].push_back(std::move(one));
  }
  return j;
}

class Tune : public Verb {
 public:
  Tune()
      : Verb("tune", "find the fastest tunables of kernels, for bench and test to use from then on",
             "  tile tune softmax --dtype bf16 --size rows=4096 --size n=8192\n  tile tune mt_rope --set positions=8\n"
             "  tile tune --list\n  tile tune --forget softmax\n") {}
  void declare(CLI::App& app) override {
    kernel_.declare(app);
    problem_.declare(app);
    app.add_option("--device", device_, "where kernels run; the best present where absent");
    app.add_flag("--quick", quick_, "the first problem of each kernel in its first dtype");
    app.add_option("--most", options_.most, "candidates of one problem that are looked at")
        ->check(CLI::Range(1, 100000));
    app.add_option("--seconds", options_.stop.seconds, "time for the samples of each of the best candidates")
        ->check(positive());
    app.add_option("--jobs", jobs_, "processes that compile; the number of cores where absent")
        ->check(CLI::Range(1, 1024));
    app.add_flag("--dry-run", dry_, "keep nothing");
    app.add_flag("--defaults", defaults_, "among the choices that ship with this program, not among the user's");
    app.add_flag("--list", list_, "show the choices that there are, and end");
    app.add_flag("--forget", forget_, "remove the choices for these kernels, and end");
    app.add_option("--json", json_, "also what was tried to this file (- is the standard output)")->type_name("FILE");
    app.add_flag("-v,--verbose", verbose_, "every candidate");
  }

  int run() override {
    folder_ = defaults_ ? shipped_choices() : TunedStore::user_folder();
    if (list_) return list();
    const auto entries = kernel_.select();
    if (forget_) return forget(entries);
    options_.fixed = problem_.overrides(entries);
    const auto work = bench_problems(entries, problem_.problem(entries), quick_, quick_ && kernel_.dtype.empty());
    compile_ahead(work);
    const OpenDevice opened = open_device(device_);
    Runner runner(*opened.backend, *opened.device);
    std::FILE* to = json_ == "-" ? stderr : stdout;
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    int failed = 0;
    for (const auto& [entry, problem] : work) {
      Progress progress;
      options_.progress = [&, id = entry->id()](const std::string& step) { progress.show(id + "  " + step); };
      const TuneResult r = tune(runner, *entry, problem, options_);
      progress.clear();
      all.push_back(json_of(r));
      if (!r.error.empty() || r.count(CandidateFate::Wrong) > 0) ++failed;
      report(to, r, r.error.empty() ? keep(*opened.backend, runner.device().info(), *entry, problem, r) : "");
    }
    if (!json_.empty()) write_file(json_, all.dump(1) + "\n");
    if (work.empty()) return kNothingRun;
    return failed ? kFailed : kGood;
  }

 private:
  void compile_ahead(const std::vector<BenchProblem>& work) const {
    const std::size_t jobs = jobs_ > 0 ? static_cast<std::size_t>(jobs_) : std::thread::hardware_concurrency();
    if (jobs < 2) return;
    Progress progress;
    progress.show("compiling");
    std::fflush(stdout);
    Crew crew(jobs, [&](std::size_t part) {
      const OpenDevice opened = open_device(device_);
      Runner runner(*opened.backend, *opened.device);
      for (const auto& [entry, problem] : work) compile_candidates(runner, *entry, problem, options_, part, jobs);
    });
    crew.wait();
  }

  /// What was done with the result, as the end of a sentence.
  std::string keep(const Backend& backend, const DeviceInfo& device, const KernelEntry& entry, const Problem& problem,
                   const TuneResult& r) const {
    if (dry_) return "nothing is kept";
    TunedChoice c;
    c.key = {device.backend, device.name, entry.id(), problem_key(problem),
             planned_code(entry, problem, backend.traits())};
    if (!r.improved) return TunedStore::forget(folder_, c.key) ? "an earlier choice is removed" : "the plan stays";
    c.chosen = r.best.chosen;
    c.planned_seconds = r.planned.time.median;
    c.tuned_seconds = r.best.time.median;
    c.date = today();
    return "kept in " + TunedStore::store(folder_, c);
  }

  void report(std::FILE* to, const TuneResult& r, const std::string& kept) const {
    const bool colour = colour_wanted(fileno(to));
    const std::string id = fmt::format("{}/{}/{}", r.kernel, r.dtype, r.problem);
    if (!r.error.empty()) {
      fmt::print(to, "{} {}\n     {}\n", painted("FAIL", "31", colour), id, r.error);
      return;
    }
    fmt::print(to,
               "{}\n     {} candidates: {} refused by the contract or the device, {} alike, {} don't compile or run, "
               "{} dropped as slow, {} timed\n",
               id, r.candidates.size(), r.count(CandidateFate::Refused), r.count(CandidateFate::Alike),
               r.count(CandidateFate::Broken), r.count(CandidateFate::Slow),
               r.count(CandidateFate::Timed) + r.count(CandidateFate::Finalist));
    if (r.left_out > 0) fmt::print(to, "     {} more combinations were not looked at; --most takes more\n", r.left_out);
    for (const Candidate& c : r.candidates) {
      if (c.fate == CandidateFate::Wrong)
        fmt::print(to, "     {} {}: {}\n", painted("WRONG", "31", colour), overrides_text(c.chosen), c.why);
      if (verbose_)
        fmt::print(to, "     {:<9} {:>9}  {}{}\n", name_of(c.fate), c.brief > 0 ? time_text(c.brief) : "",
                   c.chosen.empty() ? "as planned" : overrides_text(c.chosen), c.why.empty() ? "" : "  " + c.why);
    }
    const double planned = r.planned.time.median, best = r.best.time.median;
    if (r.improved)
      fmt::print(to, "     {}: {}, as planned {}: {:.1f} % less time; {}\n", overrides_text(r.best.chosen),
                 time_text(best), time_text(planned), 100 * (1 - best / planned), kept);
    else
      fmt::print(to, "     as planned {}; nothing is faster beyond what samples scatter ({:.1f} %); {}\n",
                 time_text(planned), 50 * (r.planned.time.spread() + r.best.time.spread()), kept);
    std::fflush(to);
  }

  int list() const {
    const TunedStore store({TunedStore::user_folder(), shipped_choices()});
    Table table({{"device", Table::Align::Left},
                 {"kernel", Table::Align::Left},
                 {"problem", Table::Align::Left},
                 {"chosen", Table::Align::Left},
                 {"planned", Table::Align::Right},
                 {"tuned", Table::Align::Right},
                 {"date", Table::Align::Left},
                 {"state", Table::Align::Left}});
    for (const TunedChoice& c : store.all())
      table.add({c.key.device, c.key.kernel, c.key.problem, overrides_text(c.chosen), time_text(c.planned_seconds),
                 time_text(c.tuned_seconds), c.date,
                 !is_current(c)                          ? "stale: the kernel has changed"
                 : c.file.starts_with(shipped_choices()) ? "shipped"
                                                         : ""});
    if (store.all().empty())
      fmt::print("no choices; tile tune KERNEL makes some\n");
    else
      fmt::print("{}", table.text());
    TunedOption::report(&store);
    return kGood;
  }

  int forget(const std::vector<const KernelEntry*>& entries) const {
    if (kernel_.filters.empty()) throw UsageError("--forget: name the kernels");
    int removed = 0;
    const TunedStore store({folder_});
    for (const TunedChoice& c : store.all())
      if (std::any_of(entries.begin(), entries.end(), [&](const KernelEntry* e) { return e->id() == c.key.kernel; }))
        removed += TunedStore::forget(folder_, c.key) ? 1 : 0;
    fmt::print("{} {} removed from {}\n", removed, removed == 1 ? "choice" : "choices", folder_);
    return kGood;
  }

  KernelOptions kernel_;
  ProblemOptions problem_;
  TuneOptions options_;
  std::string device_, json_, folder_;
  int jobs_ = 0;
  bool quick_ = false, dry_ = false, defaults_ = false, list_ = false, forget_ = false, verbose_ = false;
};

Tune tune_verb;

}  // namespace

std::string shipped_choices() {
  const char* set = std::getenv("MT_TUNED");
  return set && *set ? set : MT_TUNED;
}

void TunedOption::declare(CLI::App& app) { app.add_flag("--as-planned", planned_, "without the choices of tile tune"); }

std::unique_ptr<TunedStore> TunedOption::open() const {
  if (planned_) return nullptr;
  return std::make_unique<TunedStore>(std::vector<std::string>{TunedStore::user_folder(), shipped_choices()});
}

void TunedOption::report(const TunedStore* store) {
  if (!store) return;
  std::fflush(stdout);
  for (const std::string& note : store->notes()) fmt::print(stderr, "tile: {}\n", note);
}

}  // namespace mt
