#include "mt/passes/cse.h"

#include "mt/passes/testing.h"

namespace mt {
namespace {

TEST(Cse, PureOpsOnceAlsoAcrossRegions) {
  EXPECT_EQ(after(cse, R"(
    %z: u32 = param %n
    %z2: u32 = param %n
    %a: u32 = add %z, %z2
    %b: u32 = mul %z, %a
    %b2: u32 = mul %a, %z
    %c: bool = lt %z, %b2
    if %c {
      %d: u32 = mul %z, %a
      store %o[%d], %b
      %e: u32 = neg %d
      store %o[%d], %e
    } else {
      %e2: u32 = neg %b
      store %o[%b], %e2
    })"),
            text_of(R"(
    %z: u32 = param %n
    %a: u32 = add %z, %z
    %b: u32 = mul %z, %a
    %c: bool = lt %z, %b
    if %c {
      store %o[%b], %b
      %e: u32 = neg %b
      store %o[%b], %e
    } else {
      %e2: u32 = neg %b
      store %o[%b], %e2
    })"));
}

TEST(Cse, DifferentAttributesStayApart) {
  const std::string body = R"(
    %z: u32 = param %n
    %w: u32 = param %m
    %a: u32 = sub %z, %w
    %b: u32 = sub %w, %z
    %v: f32x2 = load %x[%z]
    %v4: f32x4 = load %x[%z]
    %e: f32 = extract %v, 0
    %e1: f32 = extract %v, 1
    %r: f32 = simd_reduce sum %e
    %s: f32 = simd_reduce max %e
    %t: f32 = simd_scan sum %e
    %u: f32 = simd_scan sum exclusive %e
    %p: f32 = const 0
    %q: f32 = const -0.0
    store %y[%a], %r)";
  EXPECT_EQ(after(cse, body), text_of(body));
}

TEST(Cse, LoadsUntilTheirMemoryChanges) {
  EXPECT_EQ(after(cse, R"(
    %z: u32 = param %n
    %a: f32 = load %y[%z]
    %a2: f32 = load %y[%z]
    %k: f32 = load %x[%z]
    store %y[%z], %a2
    %b: f32 = load %y[%z]
    %k2: f32 = load %x[%z]
    barrier
    %b2: f32 = load %y[%z]
    %k3: f32 = load %x[%z]
    store %y[%z], %b
    store %y[%z], %b2
    store %y[%z], %k2
    store %y[%z], %k3)"),
            text_of(R"(
    %z: u32 = param %n
    %a: f32 = load %y[%z]
    %k: f32 = load %x[%z]
    store %y[%z], %a
    %b: f32 = load %y[%z]
    barrier
    %b2: f32 = load %y[%z]
    store %y[%z], %b
    store %y[%z], %b2
    store %y[%z], %k
    store %y[%z], %k)"));
}

TEST(Cse, LoopsAndBranchesThatWrite) {
  const std::string body = R"(
    %z: u32 = param %n
    %a: f32 = load %y[%z]
    for %t: u32 = %z to %z step %z {
      %b: f32 = load %y[%z]
      %c: f32 = neg %b
      store %y[%z], %c
    }
    %d: f32 = load %y[%z]
    %e: bool = lt %a, %d
    if %e {
      store %y[%z], %d
    } else {
      %f: f32 = load %x[%z]
      store %y[%z], %f
    }
    %g: f32 = load %y[%z]
    store %y[%z], %g)";
  EXPECT_EQ(after(cse, body), text_of(body));
}

TEST(Cse, CollectivesOfOneValue) {
  EXPECT_EQ(after(cse, R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %b: f32 = simd_reduce sum %a
    %c: f32 = simd_reduce sum %a
    %d: f32 = group_reduce sum %a
    %e: f32 = group_reduce sum %a
    store %y[%z], %b
    store %y[%z], %c
    store %y[%z], %d
    store %y[%z], %e)"),
            text_of(R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %b: f32 = simd_reduce sum %a
    %d: f32 = group_reduce sum %a
    %e: f32 = group_reduce sum %a
    store %y[%z], %b
    store %y[%z], %b
    store %y[%z], %d
    store %y[%z], %e)"));
}

}  // namespace
}  // namespace mt
