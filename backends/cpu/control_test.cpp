// Control flow, masks and memory patterns, against the reference executor.
#include "backends/cpu/cpu_info.h"
#include "backends/cpu/emit.h"
#include "backends/cpu/testing.h"

namespace mt::cpu {
namespace {

TEST(Basic, StoresWhatItComputes) {
  for (const int threads : {32, 64, 256}) same_on_both("%r: f32 = fma %xt, %xt, %f1\n store %y[%i], %r", 0, threads);
}

TEST(Masks, TailOfAnElementwiseKernel) {
  for (const std::uint64_t n : {0, 1, 31, 32, 33, 63, 64, 65, 100, 128, 191, 192})
    same_on_both(R"(
  %in: bool = lt %i, %nn
  if %in {
    %v: f32 = load %x[%i]
    %w: f32 = add %v, %f1
    store %y[%i], %w
    %hv: f16 = load %h[%i]
    %hf: f32 = cast %hv
    %k: u32 = cast %hf
    store %u[%i], %k
    %cv: u8 = load %c[%i]
    %c2x: u8 = add %cv, %cv
    store %c[%i], %c2x
  })",
                 n);
}

TEST(Masks, IfPicksBySideAndNests) {
  same_on_both(R"(
  %low: bool = lt %i, %nn
  %odd: u32 = bit_and %t, %c1
  %is_odd: bool = ne %odd, %c0
  %a: f32, %b2: f32 = if %low {
    %r: f32 = if %is_odd {
      %l1: f32 = load %x[%t]
      yield %l1
    } else {
      yield %xt
    }
    yield %r, %xt
  } else {
    %n2: f32 = neg %xt
    %e: f32 = load %y[%i]
    %q: f32 = add %n2, %e
    yield %q, %f1
  }
  %sum: f32 = add %a, %b2
  store %y[%i], %sum
  if %is_odd {
    store %y[%i], %f1
  })");
}

TEST(Loops, EachThreadsOwnTrips) {
  for (const int threads : {32, 96})
    same_on_both(R"(
  %a: f32, %b2: f32 = for %j: u32 = %c0 to %t step %c2 with (%p0: f32 = %xt, %q0: f32 = %f1) {
    %fi: f32 = cast %j
    %next: f32 = add %p0, %fi
    yield %q0, %next
  }
  %ten: f32 = const 1000.0
  %hi: f32 = mul %a, %ten
  %both: f32 = add %hi, %b2
  store %y[%i], %both)",
                 0, threads);
}

TEST(Loops, StridedByTheGroupWithATail) {
  for (const std::uint64_t n : {0, 5, 64, 100, 333, 1000, 4000})
    for (const int threads : {32, 64})
      same_on_both(R"(
  %sum: f32 = for %j: u32 = %t to %nn step %threads with (%acc: f32 = %f0) {
    %v: f32 = load %x[%j]
    %next: f32 = add %acc, %v
    yield %next
  }
  store %y[%i], %sum)",
                   n, threads);
}

TEST(Loops, WhileLeavesLaneByLane) {
  same_on_both(R"(
  %k: u32, %f: f32 = while with (%a: u32 = %i, %acc: f32 = %f1) {
    %go: bool = gt %a, %c2
    %half: u32 = shr %a, %c1
    yield %go, %half, %acc
  } do (%a2: u32, %acc2: f32) {
    %more: f32 = add %acc2, %xt
    yield %a2, %more
  }
  store %u[%i], %k
  store %y[%i], %f)");
}

TEST(Loops, UniformTripsCarryVectorsAndScalars) {
  same_on_both(R"(
  %v: f32, %k: u32, %w: u32 = for %j: u32 = %c0 to %nn step %c3 with (%acc: f32 = %xt, %cnt: u32 = %g, %pos: u32 = %i) {
    %ld: f32 = load %x[%pos]
    %s1: f32 = add %acc, %ld
    %c: u32 = add %cnt, %c2
    %p2: u32 = add %pos, %c4
    yield %s1, %c, %p2
  }
  store %y[%i], %v
  %kw: u32 = add %k, %w
  store %u[%i], %kw)");
}

TEST(Memory, Patterns) {
  for (const std::string index : {"%i2: u32 = mul %t, %c2", "%i2: u32 = div %t, %c8", "%i2: u32 = rem %t, %c8",
                                  "%i2: u32 = bit_xor %t, %c3", "%i2: u32 = sub %c31, %l", "%i2: u32 = mul %t, %t",
                                  "%i2: u32 = load %u[%i]", "%i2: u32 = bit_and %t, %c31", "%i2: u32 = shr %i, %c2"}) {
    SCOPED_TRACE(index);
    same_on_both(index + R"(
  %lim: u32 = const 4000
  %ok: u32 = min %i2, %lim
  %a: f32 = load %x[%i2]
  %h1: f16 = load %h[%i2]
  %b1: bf16 = load %b[%ok]
  %c5: u8 = load %c[%i2]
  %v4: f32x4 = load %x[%ok]
  %h4: f16x4 = load %h[%ok]
  %h8: f16x8 = load %h[%i2]
  %c2v: u8x2 = load %c[%i2]
  %hf: f32 = cast %h1
  %bf: f32 = cast %b1
  %cf: f32 = cast %c5
  %h4f: f32x4 = cast %h4
  %h8f: f32x8 = cast %h8
  %c2f: f32x2 = cast %c2v
  %q0: f32 = extract %v4, 1
  %q1: f32 = extract %h4f, 3
  %q2: f32 = extract %h8f, 6
  %q3: f32 = extract %c2f, 1
  %s0: f32 = add %a, %hf
  %s1: f32 = add %s0, %bf
  %s2: f32 = add %s1, %cf
  %s3: f32 = add %s2, %q0
  %s4: f32 = add %s3, %q1
  %s5: f32 = add %s4, %q2
  %s6: f32 = add %s5, %q3
  store %y[%i], %s6)");
  }
}

TEST(Memory, VectorsPerThreadInMemoryOrder) {
  for (const std::uint64_t n : {0, 3, 60, 200})
    same_on_both(R"(
  %i4: u32 = mul %i, %c4
  %in: bool = lt %i, %nn
  if %in {
    %v: f32x4 = load %x[%i4]
    %two: f32x4 = const 2.0
    %w: f32x4 = mul %v, %two
    %s0: f32x4 = splat %xt
    %z: f32x4 = add %w, %s0
    store %y[%i4], %z
    %hv: bf16x4 = load %b[%i4]
    %cv: u8x4 = load %c[%i4]
    %one: u8x4 = const 1
    %cw: u8x4 = add %cv, %one
    store %c[%i4], %cw
    %hf: f32x4 = cast %hv
    %q: f32 = vector_reduce max %hf
    %qi: u32 = bitcast %q
    store %u[%i], %qi
  })",
                 n);
}

TEST(Memory, ScatteredVectorsOfALane) {
  for (const std::uint64_t n : {0, 7, 63, 192})
    same_on_both(R"(
  %i16: u32 = mul %i, %c8
  %at: u32 = add %i16, %i16
  %sq: u32 = mul %t, %t
  %lim: u32 = const 4000
  %r0: u32 = min %sq, %lim
  %v0: f32x8 = load %x[%at]
  %v1: f32x4 = load %x[%r0]
  store %y[%at], %v0
  %in: bool = lt %i, %nn
  if %in {
    %v2: f32x8 = load %x[%at]
    %v3: f32x4 = load %x[%r0]
    %e: u32x4 = cast %v3
    %w: f32x8 = add %v2, %v2
    store %y[%at], %w
    %at8: u32 = add %at, %c8
    store %u[%at8], %e
  }
  %k: u32x4 = bitcast %v1
  store %u[%at], %k)",
                 n);
}

TEST(Memory, StoresPastTheCachesAtEveryAlignment) {
  for (const std::uint64_t n : {0, 1, 5, 16}) {
    Launch l = launch_of(R"(
  %at: u32 = add %i, %nn
  store %y[%at], %xt
  %hv: bf16 = load %b[%i]
  %hf: f32 = cast %hv
  %k: u8 = cast %hf
  store %c[%at], %k)",
                         n);
    l.options = {{"stream", 1}, {"threads", 1}};
    expect_same(l.run("cpu"), l.run("interp"));
  }
}

TEST(Memory, WordsThatAreTakenApartAreAskedForAhead) {
  const auto asks = [](const std::string& body) {
    const Kernel k = launch_of(body, 0).kernel;
    return emit(k, cpu_info().emit).text.find("llvm.prefetch") != std::string::npos;
  };
  for (const char* apart : {"bit_and %w, %c3", "shr %w, %c3"}) {
    const std::string body = std::string("%w: u32 = load %u[%i]\n %low: u32 = ") + apart + "\n store %u[%i], %low";
    EXPECT_TRUE(asks(body)) << body;
    same_on_both(body);
  }
  EXPECT_FALSE(asks("%w: u32 = load %u[%i]\n %low: u32 = add %w, %c3\n store %u[%i], %low"));
  EXPECT_FALSE(asks("%w: f32 = load %x[%i]\n %low: f32 = add %w, %f1\n store %y[%i], %low"));
}

TEST(Memory, ScatterAndOwnArrays) {
  same_on_both(R"(
  %rev: u32 = bit_xor %t, %c31
  %j: u32 = add %gt, %rev
  store %y[%j], %xt
  %m: u32 = bit_and %t, %c3
  store %p[%c0], %xt
  store %p[%c1], %f1
  %x2: f32 = add %xt, %xt
  store %p[%c2], %x2
  store %p[%c3], %f0
  store %p[%m], %f1
  %r: f32 = load %p[%m]
  %r2: f32 = load %p[%c2]
  %s1: f32 = add %r, %r2
  %k: u32 = bitcast %s1
  %k4: u32 = mul %t, %t
  %k5: u32 = rem %k4, %threads
  store %u[%i], %k)");
}

}  // namespace
}  // namespace mt::cpu
