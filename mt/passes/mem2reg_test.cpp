#include "mt/passes/mem2reg.h"

#include "mt/passes/testing.h"

namespace mt {
namespace {

TEST(Mem2Reg, StraightLineStateDisappears) {
  EXPECT_EQ(after(mem2reg, R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %v: f32 = var %a
    %0: f32 = get %v
    %1: f32 = neg %0
    set %v, %1
    %2: f32 = get %v
    store %y[%z], %2)"),
            text_of(R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %1: f32 = neg %a
    store %y[%z], %1)"));
}

TEST(Mem2Reg, BranchesYieldWhatTheySet) {
  EXPECT_EQ(after(mem2reg, R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %c: bool = lt %z, %z
    %v: f32 = var %a
    %w: f32 = var %a
    if %c {
      %0: f32 = get %v
      %1: f32 = neg %0
      set %v, %1
    } else {
      %own: f32 = var %a
      set %own, %a
      set %w, %a
    }
    %2: f32 = get %v
    %3: f32 = get %w
    %4: f32 = add %2, %3
    store %y[%z], %4)"),
            text_of(R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %c: bool = lt %z, %z
    %v: f32, %w: f32 = if %c {
      %1: f32 = neg %a
      yield %1, %a
    } else {
      yield %a, %a
    }
    %4: f32 = add %v, %w
    store %y[%z], %4)"));
}

TEST(Mem2Reg, LoopsCarryWhatIsSetAnywhereInside) {
  EXPECT_EQ(after(mem2reg, R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %v: f32 = var %a
    for %t: u32 = %z to %z step %z {
      for %q: u32 = %z to %t step %z {
        %c: bool = lt %q, %t
        if %c {
          %0: f32 = get %v
          %1: f32 = neg %0
          set %v, %1
        }
      }
    }
    %2: f32 = get %v
    store %y[%z], %2)"),
            text_of(R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %v: f32 = for %t: u32 = %z to %z step %z with (%v.1: f32 = %a) {
      %v.2: f32 = for %q: u32 = %z to %t step %z with (%v.3: f32 = %v.1) {
        %c: bool = lt %q, %t
        %v.4: f32 = if %c {
          %1: f32 = neg %v.3
          yield %1
        } else {
          yield %v.3
        }
        yield %v.4
      }
      yield %v.2
    }
    store %y[%z], %v)"));
}

TEST(Mem2Reg, WhilesPassStateThroughTheirCondition) {
  EXPECT_EQ(after(mem2reg, R"(
    %z: u32 = param %n
    %one: u32 = const 1
    %v: u32 = var %z
    while {
      %0: u32 = get %v
      %1: u32 = sub %0, %one
      set %v, %1
      %c: bool = lt %one, %1
      yield %c
    } do {
      %2: u32 = get %v
      %3: u32 = shr %2, %one
      set %v, %3
    }
    %4: u32 = get %v
    store %o[%z], %4)"),
            text_of(R"(
    %z: u32 = param %n
    %one: u32 = const 1
    %w: u32 = while with (%p: u32 = %z) {
      %1: u32 = sub %p, %one
      %c: bool = lt %one, %1
      yield %c, %1
    } do (%q: u32) {
      %3: u32 = shr %q, %one
      yield %3
    }
    store %o[%z], %w)"));
}

TEST(Mem2Reg, AKernelWithoutVariablesStays) {
  const std::string body = "%z: u32 = param %n\nstore %o[%z], %z";
  EXPECT_EQ(after(mem2reg, body), text_of(body));
}

}  // namespace
}  // namespace mt
