#include "mt/passes/dce.h"

#include "mt/passes/testing.h"

namespace mt {
namespace {

TEST(Dce, UnusedValuesLoadsAndCollectivesGo) {
  EXPECT_EQ(after(dce, R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %b: f32 = simd_reduce sum %a
    %c: f32 = exp %b
    store %o[%z], %z)"),
            text_of("%z: u32 = param %n\nstore %o[%z], %z"));
}

TEST(Dce, EffectsStayWithTheControlAroundThem) {
  const std::string body = R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %c: bool = lt %z, %z
    if %c {
      for %t: u32 = %z to %z step %z {
        store %y[%t], %a
      }
      barrier
    }
    %g: f32 = group_reduce sum %a
    %old: f32 = atomic sum %y[%z], %a)";
  EXPECT_EQ(after(dce, body), text_of(body));
}

TEST(Dce, ControlWithoutEffectGoes) {
  EXPECT_EQ(after(dce, R"(
    %z: u32 = param %n
    %c: bool = lt %z, %z
    if %c {
      %a: f32 = load %x[%z]
    }
    %r: u32 = for %t: u32 = %z to %z step %z with (%q: u32 = %z) {
      %q2: u32 = add %q, %t
      yield %q2
    }
    %w: u32 = while with (%p: u32 = %z) {
      yield %c, %p
    } do (%p2: u32) {
      yield %p2
    }
    store %o[%z], %z)"),
            text_of("%z: u32 = param %n\nstore %o[%z], %z"));
}

TEST(Dce, AWhileThatWatchesWrittenMemoryStays) {
  const std::string body = R"(
    %z: u32 = param %n
    while {
      %a: f32 = load %y[%z]
      %c: bool = lt %a, %a
      yield %c
    } do {
    }
    store %o[%z], %z)";
  EXPECT_EQ(after(dce, body), text_of(body));
}

TEST(Dce, UnreadResultsAndCarriedValuesGo) {
  EXPECT_EQ(after(dce, R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %c: bool = lt %z, %z
    %dead: f32, %live: u32 = if %c {
      %e: f32 = exp %a
      yield %e, %z
    } else {
      yield %a, %z
    }
    %r: f32, %s1: u32, %t1: u32 = for %t: u32 = %z to %z step %z with (%ra: f32 = %a, %sa: u32 = %live, %ta: u32 = %z) {
      %r2: f32 = exp %ra
      %s2: u32 = add %sa, %ta
      yield %r2, %s2, %sa
    }
    store %o[%z], %s1)"),
            text_of(R"(
    %z: u32 = param %n
    %c: bool = lt %z, %z
    %live: u32 = if %c {
      yield %z
    } else {
      yield %z
    }
    %s1: u32, %t1: u32 = for %t: u32 = %z to %z step %z with (%sa: u32 = %live, %ta: u32 = %z) {
      %s2: u32 = add %sa, %ta
      yield %s2, %sa
    }
    store %o[%z], %s1)"));
}

TEST(Dce, WhilesLoseSlotsOnBothSides) {
  EXPECT_EQ(after(dce, R"(
    %z: u32 = param %n
    %r1: u32, %r2: u32, %r3: u32 = while with (%a: u32 = %z, %b: u32 = %z, %d: u32 = %z) {
      %c: bool = lt %a, %z
      %b1: u32 = add %b, %b
      yield %c, %b1, %a, %d
    } do (%x1: u32, %x2: u32, %x3: u32) {
      %n2: u32 = add %x2, %z
      yield %n2, %x1, %x3
    }
    store %o[%z], %r2)"),
            text_of(R"(
    %z: u32 = param %n
    %r2: u32 = while with (%a: u32 = %z) {
      %c: bool = lt %a, %z
      yield %c, %a
    } do (%x2: u32) {
      %n2: u32 = add %x2, %z
      yield %n2
    }
    store %o[%z], %r2)"));
}

}  // namespace
}  // namespace mt
