#include "mt/harness/test_run.h"

#include <set>

#include "mt/harness/derived.h"
#include "mt/harness/interrupt.h"
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

TestTotals run_tests(Runner& runner, const std::vector<const KernelEntry*>& entries, const TestOptions& options,
                     const TestObserver& observer) {
  struct Selected {
    const KernelEntry* entry;
    Problems cases;
  };
  std::vector<Selected> all;
  std::size_t total = 0;
  for (const KernelEntry* entry : entries) {
    Selected w{entry, {}};
    std::set<std::string> seen;
    const auto instance = entry->make();
    Problems cases = instance->tests();
    const bool changes = !options.changes.sizes().empty() || !options.changes.reals().empty();
    if (options.derived && !changes)
      cases = cases + derived_cases(*instance, runner.backend().traits(), options.overrides);
    for (const Problem& p : cases) {
      Problem changed = overlaid(p, options.changes);
      if (seen.insert(changed.text()).second) w.cases.push_back(std::move(changed));
    }
    total += w.cases.size();
    all.push_back(std::move(w));
  }
  TestTotals totals;
  const Stopwatch watch;
  std::set<std::string> names;
  std::size_t done = 0;
  for (const Selected& w : all) {
    names.insert(w.entry->name);
    ++totals.pairs;
    std::int64_t compared = 0;
    for (const Problem& p : w.cases) {
      check_interrupt();
      if (observer.before) observer.before(*w.entry, p, done, total);
      const CaseResult r =
          run_case(runner, *w.entry, p, {options.repeat && compared == 0, options.alone, options.overrides});
      ++done;
      ++totals.cases;
      totals.failed += r.passed ? 0 : 1;
      totals.empty += r.empty ? 1 : 0;
      compared += r.compared;
      if (observer.after) observer.after(r);
    }
    totals.compared += compared;
    if (compared == 0) totals.unchecked.push_back(w.entry->id());
  }
  totals.kernels = static_cast<std::int64_t>(names.size());
  totals.seconds = watch.seconds();
  return totals;
}

}  // namespace mt
