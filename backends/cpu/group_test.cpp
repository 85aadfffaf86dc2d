// Barriers, group reductions and what lives across them, against the reference executor.
#include "backends/cpu/testing.h"

namespace mt::cpu {
namespace {

void on_all_sizes(const std::string& body, std::uint64_t n = 100, double relative = 0) {
  for (const int threads : {32, 64, 256}) same_on_both(body, n, threads, relative);
}

TEST(Group, ThreadgroupMemoryIsSeenAfterABarrier) {
  on_all_sizes(R"(
  store %s[%t], %xt
  barrier
  %last: u32 = sub %threads, %c1
  %rev: u32 = sub %last, %t
  %v: f32 = load %s[%rev]
  %w: f32 = add %v, %xt
  store %y[%i], %w)");
}

TEST(Group, DearAndCheapValuesCrossABarrier) {
  on_all_sizes(R"(
  %e: f32 = exp %xt
  %big: bool = gt %xt, %f1
  %k: u32 = mul %t, %t
  %sx: f32 = simd_reduce max %xt
  %q: f32 = load %y[%i]
  store %s[%t], %e
  barrier
  %o: u32 = bit_xor %t, %c1
  %v: f32 = load %s[%o]
  %a: f32 = add %v, %e
  %b2: f32 = select %big, %a, %q
  %c: f32 = add %b2, %sx
  store %y[%i], %c
  barrier
  store %u[%i], %k)",
               100, 1e-6);
}

TEST(Group, GroupReduceOfEveryKind) {
  on_all_sizes(R"(
  %m: f32 = group_reduce max %xt
  %lo: f32 = group_reduce min %xt
  %ti: f32 = cast %t
  %sum: f32 = group_reduce sum %ti
  %bits: u32 = group_reduce or %t
  %x1: u32 = group_reduce xor %i
  %v4: f32x4 = splat %xt
  %big: f32x4 = group_reduce max %v4
  %b0: f32 = extract %big, 2
  %r0: f32 = sub %m, %lo
  %r1: f32 = add %r0, %sum
  %r2: f32 = add %r1, %b0
  store %y[%i], %r2
  %z: u32 = add %bits, %x1
  store %u[%i], %z)");
}

TEST(Group, LoopsWithBarriersCarryValues) {
  on_all_sizes(R"(
  %acc: f32, %cnt: u32, %pos: u32, %top: f32 = for %j: u32 = %c0 to %c4 step %c1 with (%a: f32 = %xt, %k: u32 = %c0, %p0: u32 = %t, %m: f32 = %f0) {
    store %s[%t], %a
    barrier
    %o: u32 = bit_xor %t, %c1
    %v: f32 = load %s[%o]
    %half: f32 = const 0.5
    %a1: f32 = fma %a, %half, %v
    %k1: u32 = add %k, %j
    %p1: u32 = add %p0, %c3
    %red: f32 = group_reduce max %a1
    %m1: f32 = max %red, %m
    barrier
    yield %a1, %k1, %p1, %m1
  }
  store %y[%i], %acc
  %z0: u32 = add %cnt, %pos
  %tb: u32 = cast %top
  %z: u32 = add %z0, %tb
  store %u[%i], %z)");
}

TEST(Group, CarriedValuesChangePlaces) {
  on_all_sizes(R"(
  %a: f32, %b2: f32, %g1: u32, %g2: u32 = for %j: u32 = %c0 to %c3 step %c1 with (%p0: f32 = %xt, %q: f32 = %f1, %k1: u32 = %c1, %k2: u32 = %nn) {
    store %s[%t], %p0
    barrier
    %o: u32 = bit_xor %t, %c3
    %v: f32 = load %s[%o]
    %w: f32 = add %v, %q
    barrier
    yield %q, %w, %k2, %k1
  }
  %ab: f32 = sub %a, %b2
  store %y[%i], %ab
  %kk: u32 = sub %g1, %g2
  store %u[%i], %kk)");
}

TEST(Group, BranchesWithBarriersGiveResults) {
  for (const std::uint64_t n : {5, 500})
    on_all_sizes(R"(
  %far: bool = gt %nn, %c32
  %r: f32, %k: u32, %gr: f32 = if %far {
    store %s[%t], %xt
    barrier
    %o: u32 = bit_xor %t, %c2
    %v: f32 = load %s[%o]
    %gm: f32 = group_reduce max %v
    yield %v, %t, %gm
  } else {
    %m: f32 = group_reduce min %xt
    %w: f32 = add %m, %xt
    yield %w, %g, %f1
  }
  %r1: f32 = add %r, %gr
  store %y[%i], %r1
  store %u[%i], %k)",
                 n);
}

TEST(Group, WhileWithBarriersEndsTogether) {
  on_all_sizes(R"(
  store %s[%t], %f1
  barrier
  %v: f32, %k: u32 = while with (%a: f32 = %xt, %n0: u32 = %c0) {
    %mine: f32 = load %s[%t]
    %first: f32 = group_reduce max %mine
    %lim: f32 = const 20.0
    %go: bool = lt %first, %lim
    yield %go, %a, %n0
  } do (%a1: f32, %n1: u32) {
    barrier
    %old: f32 = load %s[%t]
    %twice: f32 = add %old, %old
    store %s[%t], %twice
    %a2: f32 = add %a1, %twice
    %n2: u32 = add %n1, %c1
    barrier
    yield %a2, %n2
  }
  store %y[%i], %v
  store %u[%i], %k)");
}

TEST(Group, ReductionOfARowInsideALoopOfRows) {
  on_all_sizes(R"(
  for %row: u32 = %g to %c8 step %c3 {
    %c512: u32 = const 500
    %at: u32 = mul %row, %c512
    %sum: f32 = for %j: u32 = %t to %nn step %threads with (%acc: f32 = %f0) {
      %e: u32 = add %at, %j
      %v: f32 = load %x[%e]
      %next: f32 = fma %v, %v, %acc
      yield %next
    }
    %all: f32 = group_reduce sum %sum
    for %j2: u32 = %t to %nn step %threads {
      %e2: u32 = add %at, %j2
      %v2: f32 = load %x[%e2]
      %w: f32 = div %v2, %all
      store %y[%e2], %w
    }
  })",
               333, 1e-5);
}

TEST(Group, FirstSimdgroupFinishesForAll) {
  on_all_sizes(R"(
  %part: f32 = simd_reduce max %xt
  %first: bool = eq %l, %c0
  if %first {
    store %s[%sg], %part
  }
  barrier
  %lead: bool = eq %sg, %c0
  if %lead {
    %live0: u32 = div %threads, %c32
    %live: bool = lt %l, %live0
    %mine: f32 = if %live {
      %m: f32 = load %s[%l]
      yield %m
    } else {
      yield %f0
    }
    %top: f32 = simd_reduce max %mine
    if %first {
      store %s[%c0], %top
    }
  }
  barrier
  %all: f32 = load %s[%c0]
  store %y[%i], %all)");
}

TEST(Simd, CollectivesMoveLanes) {
  on_all_sizes(R"(
  %a: f32 = simd_shuffle_xor %xt, 5
  %b2: f32 = simd_shuffle_up %xt, 3
  %c: f32 = simd_shuffle_down %xt, 7
  %d: f32 = simd_broadcast %xt, 9
  %k: u32 = mul %l, %c3
  %e: f32 = simd_shuffle %xt, %k
  %f: f32 = simd_shuffle %xt, %nn
  %h1: f16 = load %h[%i]
  %h2: f16 = simd_shuffle %h1, %k
  %hf: f32 = cast %h2
  %v: f32x4 = pack %a, %b2, %c, %d
  %v1: f32x4 = simd_shuffle_xor %v, 8
  %v2: f32x4 = simd_shuffle %v1, %k
  %v3: f32x4 = simd_reduce max %v
  %q0: f32 = extract %v2, 0
  %q1: f32 = extract %v2, 1
  %q2: f32 = extract %v2, 2
  %q3: f32 = extract %v3, 3
  %s0: f32 = sub %q0, %q1
  %s1: f32 = fma %s0, %q2, %q3
  %s2: f32 = add %s1, %e
  %s3: f32 = sub %s2, %f
  %s4: f32 = add %s3, %hf
  store %y[%i], %s4
  %sc: u32 = simd_scan sum %l
  %ex: u32 = simd_scan max exclusive %k
  %sum: u32 = simd_reduce sum %t
  %t1: u32 = add %sc, %ex
  %t2: u32 = bit_xor %t1, %sum
  store %u[%i], %t2)");
}

TEST(Atomics, CountedOnceByEveryThread) {
  on_all_sizes(R"(
  %odd: u32 = bit_and %t, %c1
  %is_odd: bool = ne %odd, %c0
  if %is_odd {
    %old: u32 = atomic sum %u[%c0], %c3
  }
  %bin: u32 = bit_and %t, %c3
  %bin4: u32 = add %bin, %c4
  %o2: u32 = atomic sum %u[%bin4], %c1
  %o3: u32 = atomic max %u[%c1], %i
  %o4: u32 = atomic xor %u[%c2], %i
  %at: u32 = const 4000
  %fx: f32 = cast %t
  %o5: f32 = atomic max %y[%at], %fx
  store %s[%t], %f0
  barrier
  %slot: u32 = div %t, %c4
  %o6: f32 = atomic sum %s[%slot], %fx
  barrier
  %r: f32 = load %s[%t]
  store %y[%i], %r)");
}

}  // namespace
}  // namespace mt::cpu
