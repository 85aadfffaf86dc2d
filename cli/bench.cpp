// tile bench, and the run that tile snap shares.
#include "cli/bench.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <set>

#ifdef __linux__
#include <malloc.h>
#endif

#include "cli/reference/reference.h"
#include "mt/harness/bench_report.h"
#include "mt/harness/file.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/names.h"
#include "mt/harness/stopwatch.h"
#include "mt/harness/table.h"
#include "mt/harness/test_run.h"

namespace mt {

namespace {

/// Scripts of peers: $MT_PEERS, or the folder of this source tree.
std::string peer_folder() {
  const char* set = std::getenv("MT_PEERS");
  return set && *set ? set : MT_PEERS;
}

/// Null for no name. UsageError for a name without a script or a process that does not start.
std::unique_ptr<Peer> open_peer(const std::string& name, Device& device) {
  if (name.empty()) return nullptr;
  const std::vector<std::string> known = peer_names(peer_folder());
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw UsageError(
        fmt::format("no peer '{}'; {} has {}", name, peer_folder(), known.empty() ? "none" : listed(known)));
  const char* python = std::getenv("MT_PYTHON");
  const std::string kind = device.info().cache_bytes > 0 ? device.info().backend : "cpu";
  try {
    return std::make_unique<Peer>(name, std::vector<std::string>{python && *python ? python : "python3",
                                                                 peer_script(peer_folder(), name), "--device", kind});
  } catch (const Error& e) {
    throw UsageError(fmt::format("peer {} can't be used here: {}", name, e.what()));
  }
}

}  // namespace

void BenchCommand::declare(CLI::App& app) {
  kernel.declare(app);
  problem.declare(app);
  app.add_option("--device", device, "where kernels run; the best present where absent");
  app.add_flag("--quick", quick, "the first problem of each kernel in its first dtype, and fewer samples");
  app.add_option("--peer", peer, "compare with another library, in turns: " + listed(peer_names(peer_folder()), "or"));
  app.add_option("--seconds", seconds, "time for the samples of one problem")->check(positive());
  tuned.declare(app);
}

namespace {

/// Large blocks go back to the allocator, not to the system: most of the time of a big problem is else spent on new
/// pages.
void keep_memory() {
#ifdef M_MMAP_MAX
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

}  // namespace

BenchSession::BenchSession(const BenchCommand& c, const std::vector<const KernelEntry*>& entries)
    : opened(open_device(c.device)), runner(*opened.backend, *opened.device), store(c.tuned.open()) {
  runner.use(store.get());
  options.overrides = c.problem.overrides(entries);
  options.stop.least = c.quick ? 7 : 15;
  options.stop.seconds = c.seconds > 0 ? c.seconds : c.quick ? 0.25 : 1.5;
  options.stop.uncertainty = c.quick ? 0.02 : 0.005;
  keep_memory();
  ceiling = ceiling_of(*opened.device);
}

int BenchCommand::run() const {
  if (!sweep.empty()) return run_sweep();
  const auto entries = kernel.select();
  BenchSession session(*this, entries);
  const auto work = bench_problems(entries, problem.problem(entries), quick, quick && kernel.dtype.empty());
  const std::unique_ptr<Peer> other = open_peer(peer, *session.opened.device);
  session.options.peer = other.get();

  std::FILE* to = json == "-" ? stderr : stdout;
  const bool colour = colour_wanted(fileno(to));
  const Stopwatch watch;
  std::vector<BenchResult> results;
  std::size_t width = 20;  // of most names; the few that are longer push their line to the right
  for (const auto& [entry, p] : work) width = std::max(width, entry->id().size() + 1 + p.text().size());
  width = std::min<std::size_t>(width, 64);
  fmt::print(to, "{}", bench_heading(width));
  for (std::size_t i = 0; i < work.size(); ++i) {
    check_interrupt();
    Progress progress;
    progress.show(fmt::format("{}/{}  {}/{}", i + 1, work.size(), work[i].first->id(), work[i].second.text()));
    results.push_back(
        run_bench(session.runner, *work[i].first, work[i].second, session.options, session.ceiling.get()));
    progress.clear();
    fmt::print(to, "{}", bench_line(results.back(), width, colour));
    std::fflush(to);
  }
  TunedOption::report(session.store.get());
  if (!json.empty()) write_file(json, bench_json(results, session.opened.device->info()));
  fmt::print(to, "{}", bench_totals(results, watch.seconds()));
  if (results.empty()) return kNothingRun;
  for (const BenchResult& r : results)
    if (!r.verified) return kFailed;
  return kGood;
}

std::vector<BenchProblem> bench_problems(const std::vector<const KernelEntry*>& entries, const Problem& changes,
                                         bool first_problem, bool first_dtype) {
  std::vector<BenchProblem> all;
  std::set<std::string> names, seen;
  for (const KernelEntry* entry : entries) {
    if (first_dtype && !names.insert(entry->name).second) continue;
    for (const Problem& p : entry->make()->benches()) {
      const Problem changed = overlaid(p, changes);
      if (seen.insert(entry->id() + "/" + changed.text()).second) all.emplace_back(entry, changed);
      if (first_problem) break;
    }
  }
  return all;
}

namespace {

class Bench : public Verb {
 public:
  Bench()
      : Verb("bench", "verify kernels in full, then measure them beside the ceilings of this machine",
             "  tile bench\n  tile bench --quick\n  tile bench softmax rms_norm --dtype bf16 --size n=8192 --set "
             "threads=128\n"
             "  tile bench 'mt_*norm' --json norms.json\n  tile bench softmax --peer torch\n"
             "  tile bench mt_qmm_mma_b4 '[m]t_qmv' --dtype bf16 --sweep m=1,2,4,8,16,17,32\n"
             "  tile bench --reference mlx --mlx DIR softmax\n") {}
  void declare(CLI::App& app) override {
    command_.declare(app);
    app.add_option("--json", command_.json, "also write the results in Google Benchmark's form to this file")
        ->type_name("FILE");
    app.add_option("--sweep", command_.sweep,
                   "kernels side by side, in turns, over values of a size; each is compared with the first")
        ->type_name("NAME=1,2,4");
    reference_.declare(app, false);
  }
  int run() override {
    if (reference_.wanted() && !command_.sweep.empty())
      throw UsageError("--sweep has nothing to do with --reference; give one of them");
    if (!reference_.wanted()) return command_.run();
    if (!command_.peer.empty()) throw UsageError("--peer and --reference are two comparisons; give one of them");
    return reference_.bench(
        {command_.kernel, command_.problem, command_.device, command_.json, command_.seconds, command_.quick});
  }

 private:
  BenchCommand command_;
  ReferenceCommand reference_;
};

Bench bench;

}  // namespace
}  // namespace mt
