// tile bench --sweep: kernels side by side over the values of one size.
#include "mt/harness/sweep.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/bench.h"
#include "mt/harness/bench_report.h"
#include "mt/harness/file.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/stopwatch.h"
#include "mt/harness/table.h"

namespace mt {
namespace {

constexpr std::size_t kMostKernels = 8;

/// What the filters select, filter by filter: the first is what the others are compared with.
std::vector<const KernelEntry*> columns(const KernelOptions& options) {
  if (options.filters.empty()) throw UsageError("--sweep stands kernels side by side; name them");
  std::vector<const KernelEntry*> all;
  for (const std::string& filter : options.filters)
    for (const KernelEntry* e : KernelOptions{{filter}, options.dtype}.select())
      if (std::find(all.begin(), all.end(), e) == all.end()) all.push_back(e);
  if (all.size() > kMostKernels)
    throw UsageError(
        fmt::format("--sweep stands at most {} kernels side by side, and {} are selected; name fewer, or "
                    "one --dtype",
                    kMostKernels, all.size()));
  return all;
}

}  // namespace

int BenchCommand::run_sweep() const {
  if (!peer.empty()) throw UsageError("--sweep compares kernels with each other, without --peer; give one of them");
  const Sweep over = sweep_of(sweep);
  const auto entries = columns(kernel);
  const Problem changes = problem.problem(entries);
  const auto heading = sweep_heading(sweep_problems(entries, changes, over, over.values.front()), over);
  BenchSession session(*this, entries);

  std::FILE* to = json == "-" ? stderr : stdout;
  const bool colour = colour_wanted(fileno(to));
  const Stopwatch watch;
  SweepRows rows;
  const auto show = [&](std::size_t i) {
    fmt::print(to, "{}", sweep_line(rows[i], over, over.values[i], colour));
    std::fflush(to);
  };
  fmt::print(to, "{}", heading);
  for (const std::int64_t value : over.values) {
    check_interrupt();
    Progress progress;
    progress.show(fmt::format("{}/{}  {} {}", rows.size() + 1, over.values.size(), over.size, value));
    rows.push_back(run_in_turns(session.runner, sweep_problems(entries, changes, over, value), session.options,
                                session.ceiling.get()));
    progress.clear();
    mark_sweep(rows, over);
    if (rows.size() > 1) show(rows.size() - 2);  // the one after it may have made it a cliff
  }
  show(rows.size() - 1);

  std::vector<BenchResult> results;
  for (const auto& row : rows) results.insert(results.end(), row.begin(), row.end());
  TunedOption::report(session.store.get());
  if (!json.empty()) write_file(json, bench_json(results, session.opened.device->info()));
  fmt::print(to, "{}{}", sweep_notes(rows, over), bench_totals(results, watch.seconds()));
  return std::all_of(results.begin(), results.end(), [](const BenchResult& r) { return r.verified; }) ? kGood : kFailed;
}

}  // namespace mt
