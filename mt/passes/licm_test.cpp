#include "mt/passes/licm.h"

#include "mt/passes/testing.h"

namespace mt {
namespace {

TEST(Licm, PureOpsLeaveAllLoopsTheyCan) {
  EXPECT_EQ(after(licm, R"(
    %z: u32 = param %n
    for %t: u32 = %z to %z step %z {
      for %u: u32 = %z to %z step %z {
        %a: u32 = neg %z
        %b: u32 = neg %t
        %c: u32 = neg %u
        %d: bool = lt %c, %b
        if %d {
          %e: u32 = mul %a, %b
          store %o[%e], %a
        }
      }
    })"),
            text_of(R"(
    %z: u32 = param %n
    %a: u32 = neg %z
    for %t: u32 = %z to %z step %z {
      %b: u32 = neg %t
      %e: u32 = mul %a, %b
      for %u: u32 = %z to %z step %z {
        %c: u32 = neg %u
        %d: bool = lt %c, %b
        if %d {
          store %o[%e], %a
        }
      }
    })"));
}

TEST(Licm, LoadsOnlyFromLoopsThatSurelyRun) {
  const std::string stays = R"(
    %z: u32 = param %n
    for %t: u32 = %z to %z step %z {
      %a: f32 = load %x[%z]
      store %y[%t], %a
    })";
  EXPECT_EQ(after(licm, stays), text_of(stays));
  EXPECT_EQ(after(licm, R"(
    %z: u32 = param %n
    %0: u32 = const 0
    %4: u32 = const 4
    for %t: u32 = %0 to %4 step %4 {
      %a: f32 = load %x[%z]
      %w: f32 = load %y[%z]
      %c: bool = lt %a, %w
      if %c {
        %b: f32 = load %x[%4]
        store %y[%t], %b
      }
    })"),
            text_of(R"(
    %z: u32 = param %n
    %0: u32 = const 0
    %4: u32 = const 4
    %a: f32 = load %x[%z]
    for %t: u32 = %0 to %4 step %4 {
      %w: f32 = load %y[%z]
      %c: bool = lt %a, %w
      if %c {
        %b: f32 = load %x[%4]
        store %y[%t], %b
      }
    })"));
}

TEST(Licm, ConditionsOfWhilesRunAtLeastOnce) {
  EXPECT_EQ(after(licm, R"(
    %z: u32 = param %n
    %r: u32 = while with (%p: u32 = %z) {
      %a: u32 = load %i[%z]
      %c: bool = lt %p, %a
      yield %c, %p
    } do (%q: u32) {
      %b: u32 = load %i[%z]
      %s: u32 = add %q, %b
      yield %s
    }
    store %o[%z], %r)"),
            text_of(R"(
    %z: u32 = param %n
    %a: u32 = load %i[%z]
    %r: u32 = while with (%p: u32 = %z) {
      %c: bool = lt %p, %a
      yield %c, %p
    } do (%q: u32) {
      %b: u32 = load %i[%z]
      %s: u32 = add %q, %b
      yield %s
    }
    store %o[%z], %r)"));
}

TEST(Licm, CollectivesStay) {
  const std::string body = R"(
    %z: u32 = param %n
    %f: f32 = const 1
    for %t: u32 = %z to %z step %z {
      %a: f32 = simd_reduce sum %f
      store %y[%t], %a
    })";
  EXPECT_EQ(after(licm, body), text_of(body));
}

}  // namespace
}  // namespace mt
