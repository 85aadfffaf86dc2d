// Instrumented accesses, made through the very functions that compiled text calls.
#include "backends/metal_host/checker.h"

#include <gtest/gtest.h>

#include "backends/metal_host/externals.h"
#include "backends/metal_host/testing.h"

namespace mt::metal_host {
namespace {

using namespace testing;

template <class F>
F* function(const char* name) {
  return reinterpret_cast<F*>(resolve_external(name));
}
void store(std::uint32_t* p, std::uint32_t value) {
  function<void(void*)>("__tsan_write4")(p);
  *p = value;
}
std::uint32_t load(std::uint32_t* p) {
  function<void(void*)>("__tsan_read4")(p);
  return *p;
}
void add(std::uint32_t* p, std::uint32_t value) {
  function<std::uint32_t(std::uint32_t*, std::uint32_t, int)>("__tsan_atomic32_fetch_add")(p, value, 0);
}
std::uint32_t* shared() { return static_cast<std::uint32_t*>(msl_rt_threadgroup(0, 64 * 4, 4, "tile")); }
std::uint32_t* out(const msl_context* c) { return buffer<std::uint32_t>(c, 0); }

/// What the check says of two threadgroups of 64 threads that share 128 elements of `out`.
std::string checked(msl_entry entry, std::vector<std::uint32_t>& memory) {
  Trial r(entry, 2, 64);
  r.launch.check = true;
  return r.bind(memory, "out")();
}
std::string checked(msl_entry entry) {
  std::vector<std::uint32_t> memory(128);
  return checked(entry, memory);
}

TEST(Checker, AcceptsWhatIsOrdered) {
  std::vector<std::uint32_t> memory(128);
  EXPECT_EQ(checked(
                [](const msl_context* c) {
                  const std::uint32_t i = thread(c), g = c->thread_position_in_grid[0];
                  std::uint32_t own = g;
                  store(&own, load(&own) + 1);
                  store(&shared()[i], own);
                  msl_rt_threadgroup_barrier(MSL_MEM_THREADGROUP);
                  const std::uint32_t other = load(&shared()[63 - i]);
                  store(&out(c)[g], other);
                  // Lanes of one simdgroup.
                  msl_rt_threadgroup_barrier(MSL_MEM_THREADGROUP);
                  store(&shared()[i], own);
                  unsigned flags = MSL_MEM_THREADGROUP;
                  msl_rt_simd(MSL_OP_SIMDGROUP_BARRIER, &flags, 4);
                  load(&shared()[i ^ 31]);
                },
                memory),
            "");
  EXPECT_EQ(memory[0], 64u);
  EXPECT_EQ(memory[127], 65u);
}

TEST(Checker, BoundsNameTheByteTheBufferAndTheThread) {
  EXPECT_EQ(checked([](const msl_context* c) { store(&out(c)[c->thread_position_in_grid[0] + 30], 1); }),
            "thread 34 of threadgroup 1 writes 4 bytes at byte 512 of buffer 0 (out), which has 512");
  EXPECT_EQ(checked([](const msl_context* c) { load(&out(c)[-1]); }),
            "thread 0 of threadgroup 0 reads 4 bytes at byte -4 of buffer 0 (out), which has 512");
  EXPECT_EQ(checked([](const msl_context* c) { store(&shared()[thread(c) + 1], 1); }),
            "thread 63 of threadgroup 0 writes 4 bytes at byte 256 of threadgroup array tile, which has 256");
  EXPECT_EQ(checked([](const msl_context* c) {
              function<void*(void*, const void*, std::size_t)>("__tsan_memcpy")(out(c), out(c) + 100, 116);
            }),
            "thread 0 of threadgroup 0 reads 116 bytes at byte 400 of buffer 0 (out), which has 512");
  EXPECT_NE(checked([](const msl_context*) {
              load(reinterpret_cast<std::uint32_t*>(64));
            }).find("memory that is neither a bound buffer nor a threadgroup array"),
            std::string::npos);
}

TEST(Checker, AnotherThreadsStackIsNotOnesOwn) {
  EXPECT_NE(checked([](const msl_context* c) {
              std::uint32_t own = 1;
              auto* p = &own;
              auto* slots = static_cast<const std::byte*>(msl_rt_simd(MSL_OP_SIMD_SHUFFLE, &p, sizeof p));
              std::uint32_t* other;
              std::memcpy(&other, slots + (c->thread_index_in_simdgroup ^ 1) * MSL_SLOT_BYTES, sizeof other);
              store(other, 2);
            }).find("thread 0 of threadgroup 0 writes 4 bytes"),
            std::string::npos);
}

TEST(Checker, RacesOfThreadgroupMemory) {
  EXPECT_EQ(
      checked([](const msl_context* c) {
        store(&shared()[thread(c)], 1);
        load(&shared()[thread(c) & ~1u]);
      }),
      "race on byte 0 of threadgroup array tile: thread 1 of threadgroup 0 reads it and thread 0 wrote it {other} "
      "with no barrier for threadgroup memory between");
  EXPECT_EQ(checked([](const msl_context* c) {
              store(&shared()[thread(c)], 1);
              msl_rt_threadgroup_barrier(MSL_MEM_THREADGROUP);
              load(&shared()[0]);
              if (thread(c) == 40) store(&shared()[0], 1);
            }),
            "race on byte 0 of threadgroup array tile: thread 40 of threadgroup 0 writes it and another thread read it "
            "{other} with no barrier for threadgroup memory between");
  // A barrier that does not name the memory orders nothing of it; one of a simdgroup orders its own lanes only.
  EXPECT_NE(checked([](const msl_context* c) {
              store(&shared()[thread(c)], 1);
              msl_rt_threadgroup_barrier(MSL_MEM_DEVICE);
              load(&shared()[63 - thread(c)]);
            }).find("no barrier for threadgroup memory"),
            std::string::npos);
  EXPECT_NE(checked([](const msl_context* c) {
              store(&shared()[thread(c)], 1);
              unsigned flags = MSL_MEM_THREADGROUP;
              msl_rt_simd(MSL_OP_SIMDGROUP_BARRIER, &flags, 4);
              if (thread(c) > 31) load(&shared()[63 - thread(c)]);
            }).find("no barrier for threadgroup memory"),
            std::string::npos);
}

TEST(Checker, RacesOfDeviceMemory) {
  EXPECT_EQ(
      checked([](const msl_context* c) {
        store(&out(c)[thread(c)], 1);
        msl_rt_threadgroup_barrier(MSL_MEM_THREADGROUP);
        load(&out(c)[63 - thread(c)]);
      }),
      "race on byte 252 of buffer 0 (out): thread 0 of threadgroup 0 reads it and thread 63 wrote it {other} with "
      "no barrier for device memory between");
  EXPECT_EQ(checked([](const msl_context* c) { store(&out(c)[thread(c)], 1); }),
            "race on byte 0 of buffer 0 (out): thread 0 of threadgroup 1 writes it and another threadgroup wrote it "
            "{other}; threadgroups of a launch are not ordered, use an atomic or a second launch");
}

TEST(Checker, AtomicsAreOrderedAmongThemselvesOnly) {
  std::vector<std::uint32_t> memory(128);
  EXPECT_EQ(checked([](const msl_context* c) { add(&out(c)[0], 2); }, memory), "");
  EXPECT_EQ(memory[0], 256u);
  EXPECT_EQ(
      checked([](const msl_context* c) {
        add(&out(c)[0], 2);
        if (thread(c) == 9) load(&out(c)[0]);
      }),
      "race on byte 0 of buffer 0 (out): thread 9 of threadgroup 0 reads it and another thread changed it {other} with "
      "no barrier for device memory between");
}

TEST(Checker, ThreadgroupMemoryMustBeWrittenFirst) {
  EXPECT_EQ(checked([](const msl_context* c) {
              if (c->threadgroup_position_in_grid[0] == 0) store(&shared()[thread(c)], 1);
              load(&shared()[thread(c)]);
            }),
            "thread 0 of threadgroup 1 reads byte 0 of threadgroup array tile, which nothing has written in this "
            "threadgroup");
}

TEST(Checker, ConstAndAlignment) {
  std::vector<std::uint32_t> memory(128);
  Trial r([](const msl_context* c) { store(out(c), 1); }, 1, 1);
  r.launch.check = true;
  r.bind(memory, "x");
  r.launch.buffers[0].read_only = true;
  EXPECT_EQ(r(), "thread 0 of threadgroup 0 writes buffer 0 (x), which is const");
  EXPECT_EQ(checked([](const msl_context* c) { function<void(void*)>("__tsan_read8")(out(c) + 1); }),
            "thread 0 of threadgroup 0 reads 8 bytes at byte 4 of buffer 0 (out), an address that is no multiple of "
            "their size");
  EXPECT_EQ(checked([](const msl_context* c) { function<void(void*)>("__tsan_unaligned_read8")(out(c) + 1); }), "");
}

TEST(Checker, PlacesOfBothAccesses) {
  std::vector<std::uint32_t> memory(64);
  Trial r([](const msl_context* c) { store(out(c), thread(c)); }, 1, 2);
  r.launch.check = true;
  // Places count from the code's start; the compiler may put the lambda's body before its entry.
  r.launch.code = reinterpret_cast<const std::byte*>(r.launch.entry) - (std::ptrdiff_t{16} << 20);
  const auto fault = run_launch(r.bind(memory).launch);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->at, fault->other);
  EXPECT_NE(fault->at, nullptr);
}

TEST(Externals, NarrowFloatsPassInARegister) {
  auto* const narrow = function<float(float)>("__truncsfhf2");
  auto* const widen = function<float(float)>("__extendhfsf2");
  for (const float x : {0.0f, -1.5f, 65504.0f, 1e-7f}) {
    const float back = widen(narrow(x));
    EXPECT_NEAR(back, x, 1e-7);
  }
  EXPECT_EQ(resolve_external("system"), nullptr);
}

}  // namespace
}  // namespace mt::metal_host
