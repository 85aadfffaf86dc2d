// Every kernel against devices and compiled programs that allow a little less than it asks for.
#include <fmt/format.h>

#include "mt/dsl/spec.h"
#include "tests/contracts/testing.h"

namespace mt {
namespace {

const Problem& first_sound(const KernelEntry& entry) {
  static std::map<std::string, Problem> known;
  const auto it = known.find(entry.name);
  return it != known.end() ? it->second : known.emplace(entry.name, sound(*entry.make())).first->second;
}

/// What the launches of a call ask for at most.
struct Asked {
  int threads = 0;
  std::int64_t memory = 0;
  Groups groups{};
};
Asked asked(const Call& call) {
  Asked a;
  for (const PreparedStage& s : call.stages()) {
    a.threads = std::max(a.threads, s.compiled.kernel.threads);
    a.memory = std::max(a.memory, threadgroup_bytes(s.compiled.kernel));
    for (std::size_t axis = 0; axis < 3; ++axis) a.groups[axis] = std::max(a.groups[axis], s.groups[axis]);
  }
  return a;
}

TEST(Limits, EveryLimitOfADeviceIsHeldByEveryKernel) {
  std::size_t threads = 0, memory = 0, axes = 0;
  for (const KernelEntry* entry : registry(true)) {
    const Problem& p = first_sound(*entry);
    Bench bench;
    const Call call = bench.prepare(*entry, p);
    ASSERT_FALSE(call.stages().empty()) << entry->id();
    const Asked most = asked(call);
    const auto with = [&](const Limits& limits, int program_threads = 1024) {
      Bench small({}, limits, program_threads);
      const std::string said = small.refusal(*entry, p);
      EXPECT_EQ(small.launches, 0);
      return said;
    };
    Limits exact{most.threads, std::max<std::int64_t>(most.memory, 1), most.groups};
    EXPECT_EQ(with(exact, most.threads), "") << entry->id() << " is refused what it asks for";

    Limits less = exact;
    less.max_threads = most.threads - 1;
    expect_refusal(with(less), *entry,
                   {fmt::format("{} threads", most.threads), fmt::format("the device allows {}", most.threads - 1)});
    expect_refusal(
        with(exact, most.threads - 1), *entry,
        {fmt::format("{} threads", most.threads), fmt::format("the compiled kernel allows {}", most.threads - 1)});
    threads += 2;
    if (most.memory > 0) {
      less = exact;
      less.threadgroup_bytes = most.memory - 1;
      expect_refusal(with(less), *entry,
                     {fmt::format("{} bytes of threadgroup memory", most.memory),
                      fmt::format("the device has {}", most.memory - 1)});
      ++memory;
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      less = exact;
      less.max_groups[axis] = most.groups[axis] - 1;
      expect_refusal(with(less), *entry,
                     {fmt::format("{} threadgroups along {}", most.groups[axis], "xyz"[axis]),
                      fmt::format("allows 0 to {}", most.groups[axis] - 1)});
      ++axes;
    }
  }
  EXPECT_EQ(threads, 2 * registry(true).size());
  EXPECT_EQ(axes, 3 * registry(true).size());
  EXPECT_GT(memory, 20u);
}

TEST(Limits, AThreadgroupHasWholeSimdgroups) {
  for (const int threads : {-1, 0, 1, 16, 31, 33, 48, 1000, 1023, 1025, 1056, 2048})
    EXPECT_THROW(detail::check_launch({.groups = {1}, .threads = threads}), Error) << threads;
  for (const int threads : {32, 96, 384, 1024})
    EXPECT_NO_THROW(detail::check_launch({.groups = {1}, .threads = threads})) << threads;
  EXPECT_THROW(detail::check_launch({.groups = {1, -1}, .threads = 32}), Error);
}

/// Registers of a kernel lower what its pipeline can run below the device's 1024.
TEST(Limits, APipelineThatAllowsFewerThreadsThanTheDeviceIsAskedFirst) {
  std::size_t asked_for_1024 = 0;
  for (const KernelEntry* entry : registry(true)) {
    const auto kernel = entry->make();
    const Problem& p = first_sound(*entry);
    for (const TunableDecl& t : kernel->signature().tunables) {
      if (t.name != "threads" || std::find(t.choices.begin(), t.choices.end(), 1024) == t.choices.end()) continue;
      const Overrides wide{{"threads", 1024}};
      if (!Bench().refusal(*entry, p, wide).empty()) continue;  // the memory of so many threads is too much
      ++asked_for_1024;
      for (const int cap : {768, 832, 896, 1023}) {
        Bench bench({}, {}, cap);
        expect_refusal(bench.refusal(*entry, p, wide), *entry,
                       {"1024 threads", fmt::format("the compiled kernel allows {}", cap)});
        EXPECT_EQ(bench.launches, 0);
      }
    }
  }
  EXPECT_GT(asked_for_1024, 15u);
}

}  // namespace
}  // namespace mt
