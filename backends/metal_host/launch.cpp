#include "backends/metal_host/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>

#include "backends/metal_host/checker.h"
#include "backends/metal_host/group_runner.h"
#include "backends/metal_host/traps.h"
#include "mt/base/error.h"

namespace mt::metal_host {
namespace {

/// Runners with their stacks, kept for the next launch.
class Pool {
 public:
  std::unique_ptr<GroupRunner> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto r = std::move(free_.back());
        free_.pop_back();
        return r;
      }
    }
    return std::make_unique<GroupRunner>();
  }
  void give(std::unique_ptr<GroupRunner> r) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(r));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<GroupRunner>> free_;
};

Pool& pool() {
  static Pool p;
  return p;
}

/// The n-th threadgroup to run. A random order steps through all by a number that shares no factor with their count.
class GroupOrder {
 public:
  GroupOrder(const Schedule& s, std::uint64_t count) : schedule_(s), count_(count) {
    if (s.kind != Schedule::Random) return;
    const std::uint64_t mixed = (s.seed + 1) * 0x9e3779b97f4a7c15ull;
    first_ = (mixed >> 7) % count;
    step_ = 1 + (mixed >> 32) % count;
    while (std::gcd(step_, count) != 1) ++step_;
  }
  std::uint64_t at(std::uint64_t n) const {
    if (schedule_.kind == Schedule::Reverse) return count_ - 1 - n;
    return schedule_.kind == Schedule::Random ? (first_ + n % count_ * step_) % count_ : n;
  }

 private:
  Schedule schedule_;
  std::uint64_t count_, first_ = 0, step_ = 1;
};

void add(LaunchCounts& to, const LaunchCounts& from) {
  to.threads += from.threads;
  to.switches += from.switches;
  to.barriers += from.barriers;
  to.simd_operations += from.simd_operations;
  to.accesses += from.accesses;
}

}  // namespace

std::string label(const Binding& b) {
  return b.name.empty() ? fmt::format("buffer {}", b.index) : fmt::format("buffer {} ({})", b.index, b.name);
}

std::optional<Fault> run_launch(const Launch& launch, LaunchCounts* counts) {
  if constexpr (!kHasFibers) throw Error("metal-host runs on x86-64 and AArch64 only");
  std::array<std::uint64_t, 3> groups;
  const std::uint64_t threads = std::uint64_t{launch.threads[0]} * launch.threads[1] * launch.threads[2];
  if (threads == 0 || threads > kMaxThreads)
    throw Error(fmt::format("{} threads in a threadgroup; 1 to {} are possible", threads, kMaxThreads));
  for (const Binding& b : launch.buffers)
    if (b.index < 0 || b.index >= MSL_MAX_BUFFERS)
      throw Error(fmt::format("buffer index {}; 0 to {} are possible", b.index, MSL_MAX_BUFFERS - 1));
  std::size_t provided = 0;
  for (const auto& [index, bytes] : launch.threadgroup) {
    if (index < 0 || index >= MSL_MAX_BUFFERS)
      throw Error(fmt::format("threadgroup index {}; 0 to {} are possible", index, MSL_MAX_BUFFERS - 1));
    provided += (bytes + 15) / 16 * 16;
    if (bytes > kMaxThreadgroupBytes || provided > kMaxThreadgroupBytes)
      throw Error(fmt::format("more than {} bytes of threadgroup memory", kMaxThreadgroupBytes));
  }
  std::uint64_t total = 1;
  for (std::size_t k = 0; k < 3; ++k) {
    groups[k] = (std::uint64_t{launch.grid[k]} + launch.threads[k] - 1) / launch.threads[k];
    total *= groups[k];
  }
  if (total == 0) return std::nullopt;
  const GroupOrder order(launch.schedule, total);
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::optional<Fault> fault;
  std::exception_ptr failed;
  const auto work = [&] {
    try {
      auto runner = pool().take();
      runner->begin(launch);
      while (!stop) {
        const std::uint64_t n = next.fetch_add(1);
        if (n >= total) break;
        const std::uint64_t i = order.at(n);
        if (runner->run({static_cast<std::uint32_t>(i % groups[0]),
                         static_cast<std::uint32_t>(i / groups[0] % groups[1]),
                         static_cast<std::uint32_t>(i / groups[0] / groups[1])}))
          continue;
        stop = true;
        const std::lock_guard lock(mutex);
        if (!fault) fault = runner->fault();
      }
      runner->end();
      const LaunchCounts done = runner->counts();
      pool().give(std::move(runner));
      const std::lock_guard lock(mutex);
      if (counts) add(*counts, done);
    } catch (...) {
      stop = true;
      const std::lock_guard lock(mutex);
      if (!failed) failed = std::current_exception();
    }
  };
  // A checked launch has one table of accesses.
  const std::uint64_t workers =
      launch.check ? 1 : std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max(1, launch.workers)), total);
  std::vector<std::thread> others;
  for (std::uint64_t w = 1; w < workers; ++w) others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
  if (failed) std::rethrow_exception(failed);
  return fault;
}

}  // namespace mt::metal_host
