// Scheduling: order, active lanes, barriers, misuse, traps and the budget.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <numeric>
#include <set>

#include "backends/metal_host/guarded_memory.h"
#include "backends/metal_host/testing.h"

namespace mt::metal_host {
namespace {

using namespace testing;

constexpr unsigned kBoth = MSL_MEM_DEVICE | MSL_MEM_THREADGROUP;

TEST(Launch, ThreadsKnowTheirPlaces) {
  Launch l;
  l.entry = [](const msl_context* c) {
    const auto* p = c->thread_position_in_grid;
    const auto* n = c->threads_per_grid;
    auto* out = buffer<std::uint32_t>(c, 0) + 8 * (p[0] + n[0] * (p[1] + n[1] * p[2]));
    out[0] = c->thread_index_in_threadgroup;
    out[1] = c->thread_index_in_simdgroup;
    out[2] = c->simdgroup_index_in_threadgroup;
    out[3] = c->threads_per_threadgroup[0] * c->threads_per_threadgroup[1];
    out[4] = c->threadgroup_position_in_grid[1];
    out[5] = c->thread_position_in_threadgroup[1];
    out[6] = c->simdgroups_per_threadgroup;
    out[7] += 1;
  };
  l.grid = {10, 7, 2};
  l.threads = {8, 5, 1};
  l.workers = 3;
  std::vector<std::uint32_t> out(8 * 10 * 7 * 2);
  l.buffers = {{0, reinterpret_cast<std::byte*>(out.data()), out.size() * 4, "", false, 4}};
  ASSERT_FALSE(run_launch(l));
  for (std::uint32_t z = 0; z < 2; ++z)
    for (std::uint32_t y = 0; y < 7; ++y)
      for (std::uint32_t x = 0; x < 10; ++x) {
        const auto* o = &out[8 * (x + 10 * (y + 7 * z))];
        // Threadgroups at the edge of the grid hold what is left of it.
        const std::uint32_t wide = x < 8 ? 8 : 2, high = y < 5 ? 5 : 2, i = x % 8 + wide * (y % 5);
        EXPECT_EQ(
            std::vector<std::uint32_t>(o, o + 8),
            (std::vector<std::uint32_t>{i, i % 32, i / 32, wide * high, y / 5, y % 5, (wide * high + 31) / 32, 1}));
      }
}

TEST(Launch, SimdOperationsExchangeTheValuesOfTheLanesThatCame) {
  const msl_entry entry = [](const msl_context* c) {
    auto* out = buffer<std::uint32_t>(c, 0);
    const std::uint32_t i = c->thread_position_in_grid[0];
    if (i == 5) return;  // an ended lane takes no part
    for (std::uint32_t round = 1; round <= 3; ++round) {
      const auto all = exchange<std::uint32_t>(MSL_OP_SIMD_SUM, i * round);
      const std::uint32_t active = msl_rt_active();
      std::uint32_t sum = 0;
      for (std::uint32_t l = 0; l < 32; ++l)
        if (active >> l & 1) sum += all[l];
      out[i] += sum;
    }
  };
  for (const auto kind : {Schedule::Forward, Schedule::Reverse, Schedule::Random}) {
    std::vector<std::uint32_t> out(80, 0);
    Trial r(entry, 2, 40);
    r.launch.schedule = {kind, 7};
    ASSERT_EQ(r.bind(out)(), "");
    const auto sum = [](std::uint32_t a, std::uint32_t b) { return 6 * (b - a) * (a + b - 1) / 2; };
    EXPECT_EQ(out[0], sum(0, 32) - 6 * 5);
    EXPECT_EQ(out[5], 0u);
    EXPECT_EQ(out[39], sum(32, 40));
    EXPECT_EQ(out[40], sum(40, 72));
    EXPECT_EQ(out[79], sum(72, 80));
    EXPECT_EQ(r.counts.simd_operations, 3u * 4);
  }
}

TEST(Launch, BarriersOrderAThreadgroup) {
  const msl_entry entry = [](const msl_context* c) {
    auto* shared = static_cast<std::uint32_t*>(msl_rt_threadgroup(0, 1024 * 4, 4, "shared"));
    const std::uint32_t i = thread(c), n = c->threads_per_threadgroup[0];
    for (std::uint32_t round = 0; round < 4; ++round) {
      shared[i] = i + round;
      msl_rt_threadgroup_barrier(MSL_MEM_THREADGROUP);
      buffer<std::uint32_t>(c, 0)[c->thread_position_in_grid[0]] += shared[n - 1 - i];
      msl_rt_threadgroup_barrier(MSL_MEM_THREADGROUP);
    }
  };
  for (const auto kind : {Schedule::Forward, Schedule::Reverse, Schedule::Random}) {
    std::vector<std::uint32_t> out(2000);
    Trial r(entry, 2, 1000);
    r.launch.schedule = {kind, 99};
    r.launch.workers = 2;
    ASSERT_EQ(r.bind(out)(), "");
    for (std::uint32_t i = 0; i < 2000; ++i) ASSERT_EQ(out[i], 4 * (999 - i % 1000) + 6) << i;
    EXPECT_EQ(r.counts.barriers, 16u);
    EXPECT_EQ(r.counts.threads, 2000u);
  }
}

TEST(Launch, SchedulesAreOrdersOfAll) {
  const msl_entry entry = [](const msl_context* c) {
    auto* log = buffer<std::uint32_t>(c, 0);
    log[++log[0]] = c->thread_position_in_grid[0];
  };
  std::set<std::vector<std::uint32_t>> seen;
  for (const Schedule s : {Schedule{Schedule::Forward, 0}, Schedule{Schedule::Reverse, 0},
                           Schedule{Schedule::Random, 1}, Schedule{Schedule::Random, 2}}) {
    std::vector<std::uint32_t> log(1 + 6 * 70, 0);
    Trial r(entry, 6, 70);
    r.launch.schedule = s;
    ASSERT_EQ(r.bind(log)(), "");
    const std::vector<std::uint32_t> order(log.begin() + 1, log.end());
    EXPECT_EQ(std::set<std::uint32_t>(order.begin(), order.end()).size(), 6u * 70);
    EXPECT_EQ(std::is_sorted(order.begin(), order.end()), s.kind == Schedule::Forward);
    EXPECT_EQ(std::is_sorted(order.rbegin(), order.rend()), s.kind == Schedule::Reverse);
    seen.insert(order);
  }
  EXPECT_EQ(seen.size(), 4u);
}

TEST(Launch, ThreadgroupMemoryStartsPoisoned) {
  const msl_entry entry = [](const msl_context* c) {
    auto* shared = static_cast<float*>(msl_rt_threadgroup(3, 64, 4, nullptr));
    auto* given = reinterpret_cast<float*>(c->threadgroup[1]);
    buffer<float>(c, 0)[c->threadgroup_position_in_grid[0]] = shared[2] + given[1];
    shared[2] = given[1] = 1;
  };
  std::vector<float> out(3, 0.0f);
  Trial r(entry, 3, 1);
  r.launch.threadgroup = {{1, 16}};
  ASSERT_EQ(r.bind(out)(), "");
  for (const float x : out) EXPECT_NE(x, x);
}

TEST(Launch, DivergentSimdOperationsAreRefused) {
  const msl_entry different = [](const msl_context* c) {
    exchange<int>(thread(c) < 3 ? MSL_OP_SIMD_SUM : MSL_OP_SIMD_MAX, 1);
  };
  EXPECT_EQ(
      Trial(different, 1, 32)(),
      "simd_sum in thread 0 of threadgroup 0 while thread 3 of its simdgroup is at simd_max {other}; let all lanes "
      "of a simdgroup take the same way to it");
  const msl_entry barrier = [](const msl_context* c) {
    if (thread(c) == 40)
      exchange<int>(MSL_OP_SIMD_SHUFFLE, 1);
    else
      msl_rt_threadgroup_barrier(kBoth);
  };
  EXPECT_EQ(Trial(barrier, 1, 64)(),
            "simd_shuffle in thread 40 of threadgroup 0 while thread 32 of its simdgroup is at threadgroup_barrier "
            "{other}; let all lanes of a simdgroup take the same way to it");
}

TEST(Launch, ABarrierThatThreadsMissIsRefused) {
  const msl_entry entry = [](const msl_context* c) {
    if (c->thread_position_in_grid[0] != 70) msl_rt_threadgroup_barrier(kBoth);
  };
  EXPECT_EQ(
      Trial(entry, 3, 64)(),
      "threadgroup_barrier in thread 0 of threadgroup 1 which thread 6 ended without; let every thread reach every "
      "barrier");
}

TEST(Launch, LimitsOfAThreadgroup) {
  const msl_entry much = [](const msl_context*) {
    msl_rt_threadgroup(0, 32000, 4, "a");
    msl_rt_threadgroup(1, 1000, 4, "b");
  };
  EXPECT_EQ(Trial(much, 1, 32)(), "its threadgroup memory grows to 33008 bytes; a threadgroup has 32768");
  const msl_entry none = [](const msl_context*) {};
  EXPECT_THROW(Trial(none, 1, 1025)(), Error);
  EXPECT_THROW(Trial(none, 1, 0)(), Error);
  Trial r(none, 1, 1);
  r.launch.threadgroup = {{0, 32768}, {1, 1}};
  EXPECT_THROW(r(), Error);
}

/// The range of addresses that holds a test's function, as the object's code would be known.
template <class F>
void set_code(Launch& l, F* f) {
  l.code = reinterpret_cast<const std::byte*>(f);
  l.code_bytes = 64;
}
__attribute__((noinline)) void endless(const msl_context* c) {
  auto* p = buffer<volatile std::uint32_t>(c, 0);
  if (thread(c) == 3)
    for (;;) p[0] = p[0] + 1;
}

TEST(Launch, AnEndlessLoopUsesUpItsBudget) {
  std::vector<std::uint32_t> out(1);
  Trial r(&endless, 1, 8);
  set_code(r.launch, &endless);
  r.launch.budget_seconds = 0.05;
  r.bind(out);
  for (int again = 0; again < 2; ++again)
    EXPECT_EQ(r(),
              "thread 3 of threadgroup 0 has not ended after 0.05 s of processor time in its threadgroup; a loop does "
              "not end, or the budget is too small");
  const msl_entry with_barrier = [](const msl_context*) {
    for (;;) msl_rt_threadgroup_barrier(kBoth);
  };
  Trial b(with_barrier, 1, 64);
  b.launch.budget_seconds = 0.05;
  EXPECT_NE(b().find("has not ended after 0.05 s"), std::string::npos);
  const msl_entry with_simd = [](const msl_context*) {
    for (;;) msl_rt_simd(MSL_OP_SIMD_ANY, nullptr, 0);
  };
  Trial s(with_simd, 2, 64);
  s.launch.budget_seconds = 0.05;
  s.launch.workers = 2;
  EXPECT_NE(s().find("has not ended after 0.05 s"), std::string::npos);
}

std::uint32_t deep(volatile std::uint32_t* p, std::uint32_t n) {
  volatile std::uint32_t room[256];
  room[n % 256] = *p;
  return n == 0 ? 0 : deep(p, n - 1) + room[n % 256];
}

TEST(Launch, WhatTheProcessorRefusesEndsTheLaunchOnly) {
  const msl_entry null = [](const msl_context*) {
    volatile int* volatile p = nullptr;
    *p = 1;
  };
  EXPECT_NE(Trial(null, 1, 2)().find("thread 0 of threadgroup 0 touches memory that is not its own"),
            std::string::npos);
  const msl_entry divide = [](const msl_context* c) {
    volatile int ten = 10, zero = 0;
    buffer<volatile int>(c, 0)[0] = ten / zero;
  };
  std::vector<int> out(1);
  EXPECT_EQ(Trial(divide, 1, 2).bind(out)(),
            "thread 0 of threadgroup 0 divides an integer by zero, or its smallest value by -1");
  const msl_entry stack = [](const msl_context* c) {
    volatile auto* p = buffer<volatile std::uint32_t>(c, 0);
    if (thread(c) == 2) *p = deep(p, 1000);
  };
  EXPECT_EQ(Trial(stack, 1, 4).bind(out)(),
            "thread 2 of threadgroup 0 needs more than 256 KiB of stack; make its arrays smaller");
  const msl_entry fine = [](const msl_context* c) { buffer<int>(c, 0)[0] = 7; };
  EXPECT_EQ(Trial(fine, 1, 4).bind(out)(), "");
  EXPECT_EQ(out[0], 7);
}

TEST(Launch, MemoryBesideABufferTraps) {
  const GuardedMemory exact(64, GuardedMemory::Align::End), odd(3, GuardedMemory::Align::End);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(odd.data()) % 16, 0u);
  const auto touch = [&](const GuardedMemory& m, std::uint32_t word) {
    Trial r([](const msl_context* c) { buffer<volatile std::uint32_t>(c, 0)[0] = 1; }, 1, 1);
    r.launch.buffers = {{0, m.data() + std::size_t{4} * word, m.bytes(), "x", false, 4}};
    return r();
  };
  EXPECT_EQ(touch(exact, 15), "");
  EXPECT_EQ(touch(exact, 16), "thread 0 of threadgroup 0 touches byte 0 of buffer 0 (x), which has 64");
  EXPECT_NE(touch(odd, 4), "");
  EXPECT_NE(touch(exact, 250u << 20), "");
  const GuardedMemory page(1, GuardedMemory::Align::Begin), none(0, GuardedMemory::Align::End);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(page.data()) % 4096, 0u);
  EXPECT_NE(touch(none, 0), "");
}

TEST(Launch, TextEndsALaunchWithItsOwnWords) {
  const msl_entry entry = [](const msl_context* c) {
    if (thread(c) == 1) msl_rt_fault("no such code");
  };
  EXPECT_EQ(Trial(entry, 1, 4)(), "thread 1 of threadgroup 0: no such code");
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMostMilliseconds = 50;
#else
constexpr double kMostMilliseconds = 1;
#endif

TEST(Launch, SpeedOfALargeThreadgroup) {
  const msl_entry entry = [](const msl_context* c) {
    auto* shared = static_cast<float*>(msl_rt_threadgroup(0, 4096, 4, nullptr));
    shared[thread(c)] = 1;
    msl_rt_threadgroup_barrier(kBoth);
    buffer<float>(c, 0)[thread(c)] = shared[1023 - thread(c)];
    msl_rt_threadgroup_barrier(kBoth);
  };
  std::vector<float> out(1024);
  Trial r(entry, 1, 1024);
  r.bind(out);
  double best = 1e9;
  for (int i = 0; i < 50; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(r(), "");
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("1024 threads with 2 barriers: %.3f ms, %.0f ns a switch\n", best,
              best * 1e6 / static_cast<double>(r.counts.switches));
  EXPECT_LE(best, kMostMilliseconds);
}

}  // namespace
}  // namespace mt::metal_host
