#include "mt/passes/fold.h"

#include "mt/passes/dce.h"
#include "mt/passes/testing.h"

namespace mt {
namespace {

/// fold, then dce, so that expectations show only what is left to compute.
bool fold_and_clean(Kernel& k, const PipelineOptions& o) {
  const bool folded = fold(k, o);
  return dce(k, o) || folded;
}

TEST(Fold, ConstantsAreEvaluatedByTheTable) {
  EXPECT_EQ(after(fold_and_clean, R"(
    %z: u32 = param %n
    %a: f32 = const 2
    %b: f32 = const 3
    %c: f32 = fma %a, %b, %b
    %d: bool = lt %a, %c
    %e: f32 = select %d, %c, %a
    %f: f16 = cast %e
    %g: f32 = cast %f
    %h: f32x4 = splat %g
    %i: f32 = extract %h, 2
    %j: f32x2 = pack %i, %i
    store %y[%z], %j)"),
            text_of("%z: u32 = param %n\n%j: f32x2 = const 9\nstore %y[%z], %j"));
}

TEST(Fold, KnownBranchesAreInlined) {
  EXPECT_EQ(after(fold, R"(
    %z: u32 = param %n
    %t: bool = const true
    %r: u32 = if %t {
      store %o[%z], %z
      %q: u32 = neg %z
      yield %q
    } else {
      yield %z
    }
    store %o[%r], %z)"),
            text_of("%z: u32 = param %n\n%t: bool = const true\nstore %o[%z], %z\n%q: u32 = neg %z\nstore %o[%q], %z"));
}

TEST(Fold, LoopsOfNoTripAndOfOne) {
  EXPECT_EQ(after(fold_and_clean, R"(
    %z: u32 = param %n
    %3: u32 = const 3
    %5: u32 = const 5
    %none: u32 = for %t: u32 = %5 to %5 step %3 with (%p: u32 = %z) {
      %p2: u32 = neg %p
      yield %p2
    }
    %one: u32 = for %t2: u32 = %3 to %5 step %3 with (%q: u32 = %none) {
      %q2: u32 = add %q, %t2
      yield %q2
    }
    store %o[%z], %one)"),
            text_of("%z: u32 = param %n\n%3: u32 = const 3\n%q2: u32 = add %z, %3\nstore %o[%z], %q2"));
}

TEST(Fold, AStepPastTheLargestIndexIsNotOneTrip) {
  const std::string body = R"(
    %a: u32 = const 4294967290
    %b: u32 = const 4294967295
    %s: u32 = const 8
    for %t: u32 = %a to %b step %s {
      store %o[%t], %t
    })";
  EXPECT_EQ(after(fold, body), text_of(body));
}

TEST(Fold, AWhileThatNeverStartsRunsItsConditionOnce) {
  EXPECT_EQ(after(fold_and_clean, R"(
    %z: u32 = param %n
    %r: u32 = while with (%p: u32 = %z) {
      store %o[%p], %p
      %f: bool = const false
      %q: u32 = neg %p
      yield %f, %q
    } do (%p2: u32) {
      store %o[%p2], %z
      yield %p2
    }
    store %o[%r], %z)"),
            text_of("%z: u32 = param %n\nstore %o[%z], %z\n%q: u32 = neg %z\nstore %o[%q], %z"));
}

TEST(Fold, CarriedValuesThatNeverChange) {
  EXPECT_EQ(after(fold_and_clean, R"(
    %z: u32 = param %n
    %w: u32 = param %m
    %r: u32, %r2: u32 = for %t: u32 = %z to %w step %z with (%p: u32 = %w, %q: u32 = %w) {
      store %o[%p], %q
      yield %p, %w
    }
    store %o[%r], %r2)"),
            text_of("%z: u32 = param %n\n%w: u32 = param %m\nfor %t: u32 = %z to %w step %z {\nstore %o[%w], "
                    "%w\n}\nstore %o[%w], %w"));
}

TEST(Fold, IfsThatYieldTheSame) {
  EXPECT_EQ(after(fold_and_clean, R"(
    %z: u32 = param %n
    %c: bool = lt %z, %z
    %r: u32 = if %c {
      store %o[%z], %z
      yield %z
    } else {
      yield %z
    }
    store %o[%r], %r)"),
            text_of("%z: u32 = param %n\n%c: bool = lt %z, %z\nif %c {\nstore %o[%z], %z\n}\nstore %o[%z], %z"));
}

std::string cast_chain(const std::string& from, const std::string& middle, const std::string& to) {
  const std::string head = "%z: u32 = param %n\n%v: u32 = load %i[%z]\n%a: " + from + " = cast %v\n";
  const std::string text =
      after(fold_and_clean, head + "%b: " + middle + " = cast %a\n%c: " + to + " = cast %b\n%d: " + to +
                                " = add %c, %c\n%e: u32 = cast %d\nstore %o[%z], %e");
  std::size_t casts = 0;
  for (std::size_t at = text.find(" cast "); at != std::string::npos; at = text.find(" cast ", at + 1)) ++casts;
  return std::to_string(casts);
}

TEST(Fold, CastsOfCasts) {
  // One cast is the chain's first, one its last; from u32 itself there is no first.
  EXPECT_EQ(cast_chain("f16", "f32", "f16"), "2");
  EXPECT_EQ(cast_chain("f32", "f16", "f32"), "4") << "rounds";
  EXPECT_EQ(cast_chain("bf16", "f32", "f16"), "4") << "not every target has it in one step";
  EXPECT_EQ(cast_chain("i32", "i64", "u32"), "2") << "u32 to i32 to i64 to u32 is u32";
  EXPECT_EQ(cast_chain("u8", "u32", "f32"), "3");
  EXPECT_EQ(cast_chain("i8", "u32", "f32"), "4") << "negative numbers change";
  EXPECT_EQ(cast_chain("i32", "f32", "i32"), "4") << "24 bits";
  EXPECT_EQ(cast_chain("u8", "f32", "i8"), "4") << "255 saturates to 127, and wraps to -1";
  EXPECT_EQ(cast_chain("i8", "f32", "u16"), "4") << "-1 saturates to 0";
  EXPECT_EQ(cast_chain("u8", "f32", "i16"), "3") << "every value fits";
}

TEST(Fold, LanesThatComeTogetherAgain) {
  EXPECT_EQ(after(fold_and_clean, R"(
    %z: u32 = param %n
    %v: f32x2 = load %x[%z]
    %a: f32 = extract %v, 0
    %b: f32 = extract %v, 1
    %p: f32x2 = pack %a, %b
    %q: f32x2 = pack %b, %a
    %r: f32 = extract %q, 0
    %s: f32x2 = pack %r, %r
    store %y[%z], %p
    store %y[%z], %s)"),
            text_of(R"(
    %z: u32 = param %n
    %v: f32x2 = load %x[%z]
    %b: f32 = extract %v, 1
    %s: f32x2 = splat %b
    store %y[%z], %v
    store %y[%z], %s)"));
}

TEST(Fold, OneSimdgroup) {
  EXPECT_EQ(after(fold, "%a: u32 = simd_id\n%b: u32 = thread_id\nstore %o[%a], %b", {}, 32),
            text_of("%a: u32 = const 0\n%b: u32 = lane_id\nstore %o[%a], %b", 32));
}

}  // namespace
}  // namespace mt
