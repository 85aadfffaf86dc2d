// random_kernels: compares many random kernels with what passes and backends make of them; failures become small files.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "mt/ir/text.h"
#include "tests/semantics/differential.h"
#include "tests/semantics/random_kernel.h"
#include "tests/semantics/shrink.h"

namespace mt {
namespace {

namespace fs = std::filesystem;
using Verdict = Differential::Verdict;

constexpr unsigned kSecondsForOne = 120;     // a kernel that takes longer hangs
constexpr std::uint64_t kObjectsKept = 500;  // compiled kernels before a worker's cache is emptied
constexpr std::size_t kTextsTogether = 40;   // kernels in one text

struct Settings {
  std::uint64_t seed = 1, count = 1000;
  int jobs = 1;
  double seconds = 0;  // 0: no limit
  bool cpu = false, no_passes = false;
  std::vector<std::string> texts;
  std::string out = "random_failures", json, replay;
  Differential::Options compared() const { return {.passes = !no_passes, .cpu = cpu, .texts = texts, .planted = {}}; }
};

/// What one worker process tells its parent.
struct Shared {
  std::uint64_t next = 0;  // seed it is at
  std::uint64_t same = 0, refused = 0, failed = 0, executed = 0;
};

/// Whether the comparison ends a process of its own by a signal.
bool crashes(const Kernel& kernel, std::uint64_t seed, const Differential::Options& options) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSecondsForOne);
    if (!std::freopen("/dev/null", "w", stderr)) _exit(0);
    Differential(options).run(kernel, seed);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

/// Shrinks the kernel of that seed and writes it.
void report(const Settings& s, std::uint64_t seed, const Mismatch& found, const Fails& fails) {
  const Kernel small = shrink(parse(random_kernel(seed)).take(), fails);
  fs::create_directories(s.out);
  const std::string path = fmt::format("{}/{}.ir", s.out, seed);
  std::ofstream(path) << fmt::format("; seed {}: {}: {}\n{}", seed, found.where, found.what, print(small));
  fmt::print("seed {}: {}: {}\n  {} instructions in {}; random_kernels --replay {} runs them\n", seed, found.where,
             found.what, instructions(small), path, path);
  std::fflush(stdout);
}

std::string cache_folder(int worker) { return fmt::format("{}/cache{}", std::getenv("MT_RANDOM_CACHE"), worker); }

/// Seeds from `shared.next` on, in steps of the number of jobs.
void work(const Settings& s, Shared& shared, int worker, std::chrono::steady_clock::time_point until) {
  setenv("MT_CACHE_DIR", cache_folder(worker).c_str(), 1);
  Differential compare(s.compared());
  const auto jobs = static_cast<std::uint64_t>(s.jobs);
  const std::size_t together = s.texts.empty() ? 1 : kTextsTogether;
  std::uint64_t done = 0, next = shared.next;
  while (next < s.seed + s.count) {
    if (s.seconds > 0 && std::chrono::steady_clock::now() > until) return;
    alarm(kSecondsForOne);
    std::vector<Kernel> kernels;
    std::vector<std::uint64_t> seeds;
    for (; next < s.seed + s.count && seeds.size() < together; next += jobs) {
      seeds.push_back(next);
      kernels.push_back(parse(random_kernel(next)).take());
    }
    const auto results = compare.run(kernels, seeds, [&](std::size_t n) { shared.next = seeds[n]; });
    alarm(0);
    for (std::size_t n = 0; n < seeds.size(); ++n) {
      const Differential::Result& r = results[n];
      shared.executed += static_cast<std::uint64_t>(r.executed);
      ++(r.verdict == Verdict::Same ? shared.same : r.verdict == Verdict::Refused ? shared.refused : shared.failed);
      if (r.verdict != Verdict::Differs) continue;
      report(s, seeds[n], r.mismatch, [&](const Kernel& k) {
        const Differential::Result again = compare.run(k, seeds[n]);
        return again.verdict == Verdict::Differs && again.mismatch.like(r.mismatch);
      });
    }
    shared.next = next;
    if (s.cpu && (done += seeds.size()) >= kObjectsKept) {
      fs::remove_all(cache_folder(worker));
      done = 0;
    }
  }
}

int run_all(const Settings& s) {
  const auto start = std::chrono::steady_clock::now();
  const auto until = start + std::chrono::milliseconds(static_cast<std::int64_t>(s.seconds * 1000));
  auto* shared = static_cast<Shared*>(mmap(nullptr, sizeof(Shared) * static_cast<std::size_t>(s.jobs),
                                           PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared == MAP_FAILED) throw Error("no shared memory");
  char folder[] = "/tmp/mt_random_XXXXXX";
  if (!mkdtemp(folder)) throw Error("no temporary folder");
  setenv("MT_RANDOM_CACHE", folder, 1);
  std::map<pid_t, int> workers;
  const auto begin = [&](int w) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child < 0) throw Error("no more processes");
    if (child == 0) {
      work(s, shared[w], w, until);
      std::fflush(stdout);
      _exit(0);
    }
    workers[child] = w;
  };
  fmt::print("seed {}, {} kernels, {} at a time\n", s.seed, s.count, s.jobs);
  for (int w = 0; w < s.jobs; ++w) {
    shared[w].next = s.seed + static_cast<std::uint64_t>(w);
    begin(w);
  }
  while (!workers.empty()) {
    int status = 0;
    const pid_t ended = wait(&status);
    if (ended < 0) break;
    const auto it = workers.find(ended);
    if (it == workers.end()) continue;
    const int w = it->second;
    workers.erase(it);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    const std::uint64_t seed = shared[w].next;
    ++shared[w].failed;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    report(s, seed, {"process", signal == SIGALRM ? "hangs" : fmt::format("ends by signal {}", signal)},
           [&](const Kernel& k) { return crashes(k, seed, s.compared()); });
    shared[w].next += static_cast<std::uint64_t>(s.jobs);
    begin(w);
  }
  fs::remove_all(folder);
  Shared sum;
  for (int w = 0; w < s.jobs; ++w) {
    sum.same += shared[w].same;
    sum.refused += shared[w].refused;
    sum.failed += shared[w].failed;
    sum.executed += shared[w].executed;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::uint64_t kernels = sum.same + sum.refused + sum.failed;
  fmt::print("{} kernels, {} executions in {:.0f} s: {} the same, {} refused by the reference, {} failed\n", kernels,
             sum.executed, seconds, sum.same, sum.refused, sum.failed);
  if (!s.json.empty()) {
    nlohmann::ordered_json j;
    j["seed"] = s.seed;
    j["kernels"] = kernels;
    j["compared_with"] = s.no_passes ? nlohmann::ordered_json::array() : nlohmann::ordered_json{"passes on interp"};
    if (s.cpu) j["compared_with"].push_back("cpu");
    for (const std::string& t : s.texts) j["compared_with"].push_back(t + " text on the host");
    j["executions"] = sum.executed;
    j["same"] = sum.same;
    j["refused"] = sum.refused;
    j["failed"] = sum.failed;
    j["seconds"] = static_cast<std::int64_t>(seconds);
    j["jobs"] = s.jobs;
    std::ofstream(s.json, std::ios::app) << j.dump() << "\n";
  }
  return sum.failed ? 1 : sum.same ? 0 : 3;
}

int run_file(const Settings& s) {
  std::ifstream in(s.replay);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) throw Error("cannot read " + s.replay);
  std::uint64_t seed = s.seed;
  std::sscanf(text.str().c_str(), "; seed %lu", &seed);
  const Differential::Result r = Differential(s.compared()).run(parse(text.str()).take(), seed);
  if (r.verdict == Verdict::Same)
    fmt::print("seed {}: the same in {} executions\n", seed, r.executed);
  else
    fmt::print("seed {}: {}: {}\n", seed, r.mismatch.where, r.mismatch.what);
  return r.verdict == Verdict::Same ? 0 : r.verdict == Verdict::Differs ? 1 : 3;
}

int run(int argc, char** argv) {
  Settings s;
  CLI::App app{"Compares random kernels with what passes and backends make of them."};
  app.add_option("--seed", s.seed, "the first one")->capture_default_str();
  app.add_option("--count", s.count, "kernels")->capture_default_str();
  app.add_option("--jobs", s.jobs, "processes")->check(CLI::Range(1, 256))->capture_default_str();
  app.add_option("--seconds", s.seconds, "begin no kernel after that time");
  app.add_flag("--cpu", s.cpu, "the cpu backend too");
  app.add_option("--text", s.texts, "the text of these targets, run on the host")
      ->check(CLI::IsMember({"metal", "cuda"}));
  app.add_flag("--no-passes", s.no_passes, "not after each pass");
  app.add_option("--out", s.out, "folder for kernels that fail")->capture_default_str();
  app.add_option("--json", s.json, "adds a line with the result to this file");
  app.add_option("--replay", s.replay, "a file that a failure left")->check(CLI::ExistingFile);
  CLI11_PARSE(app, argc, argv);
  return s.replay.empty() ? run_all(s) : run_file(s);
}

}  // namespace
}  // namespace mt

int main(int argc, char** argv) {
  try {
    return mt::run(argc, argv);
  } catch (const mt::Error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
