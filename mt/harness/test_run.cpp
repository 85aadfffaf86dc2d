#include "mt/harness/test_run.h"

#include <mutex>
#include <set>

#include "mt/harness/derived.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/jobs.h"
#include "mt/harness/stopwatch.h"

namespace mt {

int TestTotals::exit_code() const {
  if (failed > 0) return 1;
  return compared == 0 || !unchecked.empty() ? 3 : 0;
}

Problem overlaid(Problem base, const Problem& changes) {
  for (const auto& [name, value] : changes.sizes()) base = base.with(name, value);
  for (const auto& [name, value] : changes.reals()) base = base.with_real(name, value);
  if (changes.seed() != 1) base = base.with_seed(changes.seed());
  return base;
}

namespace {

struct Selected {
  const KernelEntry* entry;
  Problems cases;
};

std::vector<Selected> selected(const Backend& backend, const std::vector<const KernelEntry*>& entries,
                               const TestOptions& options) {
  std::vector<Selected> all;
  for (const KernelEntry* entry : entries) {
    Selected w{entry, {}};
    std::set<std::string> seen;
    const auto instance = entry->make();
    Problems cases = instance->tests();
    const bool changes = !options.changes.sizes().empty() || !options.changes.reals().empty();
    if (options.derived && !changes) cases = cases + derived_cases(*instance, backend.traits(), options.overrides);
    for (const Problem& p : cases) {
      Problem changed = overlaid(p, options.changes);
      if (seen.insert(changed.text()).second) w.cases.push_back(std::move(changed));
    }
    all.push_back(std::move(w));
  }
  return all;
}

/// What has been run, by any number of threads.
class Progression {
 public:
  Progression(const std::vector<Selected>& all, const TestOptions& options, const TestObserver& observer)
      : all_(all), options_(options), observer_(observer), compared_(all.size(), 0) {
    for (const Selected& w : all) total_ += w.cases.size();
  }

  void run(Runner& runner, std::size_t n) {
    const Selected& w = all_[n];
    for (const Problem& p : w.cases) {
      check_interrupt();
      if (observer_.before) {
        const std::lock_guard lock(mutex_);
        observer_.before(*w.entry, p, done_, total_);
      }
      const CaseResult r =
          run_case(runner, *w.entry, p, {options_.repeat && compared_[n] == 0, options_.alone, options_.overrides});
      const std::lock_guard lock(mutex_);
      ++done_;
      ++totals_.cases;
      totals_.failed += r.passed ? 0 : 1;
      totals_.empty += r.empty ? 1 : 0;
      totals_.tuned += r.tuned.empty() ? 0 : 1;
      compared_[n] += r.compared;
      if (observer_.after) observer_.after(r);
    }
  }
  TestTotals totals() {
    std::set<std::string> names;
    for (std::size_t n = 0; n < all_.size(); ++n) {
      names.insert(all_[n].entry->name);
      totals_.compared += compared_[n];
      if (compared_[n] == 0) totals_.unchecked.push_back(all_[n].entry->id());
    }
    totals_.kernels = static_cast<std::int64_t>(names.size());
    totals_.pairs = static_cast<std::int64_t>(all_.size());
    totals_.seconds = watch_.seconds();
    return totals_;
  }

 private:
  const std::vector<Selected>& all_;
  const TestOptions& options_;
  const TestObserver& observer_;
  const Stopwatch watch_;
  std::mutex mutex_;
  TestTotals totals_;
  std::size_t done_ = 0, total_ = 0;
  std::vector<std::int64_t> compared_;  // elements, by kernel
};

}  // namespace

TestTotals run_tests(Runner& runner, const std::vector<const KernelEntry*>& entries, const TestOptions& options,
                     const TestObserver& observer) {
  const std::vector<Selected> all = selected(runner.backend(), entries, options);
  Progression progress(all, options, observer);
  runner.use(options.tuned);
  for (std::size_t n = 0; n < all.size(); ++n) progress.run(runner, n);
  return progress.totals();
}

TestTotals run_tests(const Backend& backend, const std::function<std::unique_ptr<Device>()>& open, int jobs,
                     const std::vector<const KernelEntry*>& entries, const TestOptions& options,
                     const TestObserver& observer) {
  const std::vector<Selected> all = selected(backend, entries, options);
  Progression progress(all, options, observer);
  run_jobs(jobs, all.size(), [&] {
    struct Worker {
      std::unique_ptr<Device> device;
      Runner runner;
      Worker(const Backend& b, std::unique_ptr<Device> d) : device(std::move(d)), runner(b, *device) {}
    };
    const auto w = std::make_shared<Worker>(backend, open());
    w->runner.use(options.tuned);
    return [w, &progress](std::size_t n) { progress.run(w->runner, n); };
  });
  return progress.totals();
}

}  // namespace mt
