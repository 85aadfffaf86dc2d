#include "mt/passes/canonical.h"

#include "mt/passes/testing.h"

namespace mt {
namespace {

TEST(Canonical, TheOrderOfOperandEvaluationDoesNotShow) {
  const std::string left_first = R"(
    %z: u32 = param %n
    %w: u32 = param %m
    %a: f32 = load %x[%z]
    %b: f32 = load %x[%w]
    %c: f32 = exp %a
    %d: f32 = log %b
    %e: f32 = sub %c, %d
    store %y[%z], %e)";
  const std::string right_first = R"(
    %w: u32 = param %m
    %b: f32 = load %x[%w]
    %d: f32 = log %b
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %c: f32 = exp %a
    %e: f32 = sub %c, %d
    store %y[%z], %e)";
  EXPECT_EQ(after(canonical, left_first), after(canonical, right_first));
  EXPECT_EQ(after(canonical, right_first), text_of(R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %c: f32 = exp %a
    %w: u32 = param %m
    %b: f32 = load %x[%w]
    %d: f32 = log %b
    %e: f32 = sub %c, %d
    store %y[%z], %e)"));
}

TEST(Canonical, LoadsThatABoundaryHoldsBackAreOrderedByDemand) {
  const std::string z = "%z: u32 = param %n\n%w: u32 = param %m\n", a = "%a: f32 = load %x[%z]\n",
                    b = "%b: f32 = load %x[%w]\n";
  const std::string rest = "barrier\n%e: f32 = sub %a, %b\nstore %y[%z], %e";
  EXPECT_EQ(after(canonical, z + a + b + rest),
            text_of("%z: u32 = param %n\n" + a + "%w: u32 = param %m\n" + b + rest));
  EXPECT_EQ(after(canonical, z + b + a + rest), after(canonical, z + a + b + rest));
}

TEST(Canonical, LoadsStayOnTheirSide) {
  const std::string body = R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %w: u32 = param %m
    for %t: u32 = %z to %w step %z {
      store %o[%t], %t
    }
    %b: f32 = load %s[%z]
    barrier
    %c: f32 = load %y[%w]
    store %y[%z], %b
    store %y[%w], %c
    store %y[%z], %a)";
  EXPECT_EQ(after(canonical, body), text_of(body)) << "each load is needed later than it stands";
}

TEST(Canonical, LoadsWhoseMemoryIsNotTouchedGoWhereTheyAreNeeded) {
  EXPECT_EQ(after(canonical, R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    store %o[%z], %z
    store %y[%z], %a)"),
            text_of("%z: u32 = param %n\nstore %o[%z], %z\n%a: f32 = load %x[%z]\nstore %y[%z], %a"));
}

TEST(Canonical, WhatRegionsNeedStandsBeforeThem) {
  EXPECT_EQ(after(canonical, R"(
    %z: u32 = param %n
    %b: u32 = neg %z
    %a: u32 = bit_not %z
    %r: u32 = for %t: u32 = %z to %z step %z with (%p: u32 = %z) {
      %q: u32 = add %a, %b
      %s: u32 = mul %q, %p
      yield %s
    }
    store %o[%z], %r)"),
            text_of(R"(
    %z: u32 = param %n
    %a: u32 = bit_not %z
    %b: u32 = neg %z
    %r: u32 = for %t: u32 = %z to %z step %z with (%p: u32 = %z) {
      %q: u32 = add %a, %b
      %s: u32 = mul %q, %p
      yield %s
    }
    store %o[%z], %r)"));
}

TEST(Canonical, ALongChainDoesNotNeedTheStack) {
  std::string body = "%v0: u32 = param %n\n";
  for (int i = 0; i < 20000; ++i) body += "%v" + std::to_string(i + 1) + ": u32 = neg %v" + std::to_string(i) + "\n";
  body += "store %o[%v20000], %v0";
  EXPECT_EQ(after(canonical, body), text_of(body));
}

/// Two products of one operand each, with `between` in the middle; what stands in front of the first one.
std::string before_first_product(const std::string& between) {
  Kernel k = parsed(R"(kernel @k threads 32 {
  device out %y: f32 [32]
  threadgroup %s: bf16 [1024]
  %c0: u32 = const 0
  %c8: u32 = const 8
  %c512: u32 = const 512
  %l: u32 = lane_id
  %at: u32 = mul %l, %c8
  %later: u32 = add %at, %c512
  %f: f32 = const 0.0
  %zero: f32x4 = splat %f
  %bf: bf16 = const 1.0
  %b: bf16x4 = splat %bf
  %first: bf16x8 = load_matrix %s[%at]
  %p: f32x4 = mma_block %zero, %first, %b, mma16
)" + between + R"(
  %second: bf16x8 = load_matrix %s[%later]
  %q: f32x4 = mma_block %p, %second, %b, mma16
  %v: f32 = extract %q, 0
  store %y[%l], %v
})");
  canonical(k, {});
  EXPECT_EQ(verify(k), "") << print(k);
  const std::string text = print(k);
  return text.substr(0, text.find("mma_block"));
}

TEST(Canonical, MatrixLoadsStartBeforeTheProductsInFront) {
  EXPECT_NE(before_first_product("").find("%second"), std::string::npos);
}

TEST(Canonical, MatrixLoadsStayBehindWhatMayChangeThem) {
  for (const char* between : {"barrier", "store %s[%at], %bf", "copy_wait 0"})
    EXPECT_EQ(before_first_product(between).find("%second"), std::string::npos) << between;
}

}  // namespace
}  // namespace mt
