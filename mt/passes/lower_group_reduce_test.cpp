#include "mt/passes/lower_group_reduce.h"

#include "mt/passes/testing.h"

namespace mt {
namespace {

const char* const kBody = "%z: u32 = param %n\n%a: f32 = load %x[%z]\n%r: f32 = group_reduce max %a\nstore %y[%z], %r";

/// The expected text with the scratch array declared.
std::string with_scratch(const std::string& declaration, const std::string& body, int threads = 64) {
  std::string text = with_body(body, threads);
  text.replace(text.find(" scalar"), 0, declaration);
  return nameless(parsed(text));
}

TEST(LowerGroupReduce, OneSimdReduceASlotABarrierAndAnother) {
  EXPECT_EQ(after(lower_group_reduce, kBody), with_scratch("threadgroup %group_reduce_f32: f32 [2]\n", R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %mine: f32 = simd_reduce max %a
    %lane: u32 = lane_id
    %0: u32 = const 0
    %first: bool = eq %lane, %0
    %sg: u32 = simd_id
    if %first {
      store %group_reduce_f32[%sg], %mine
    }
    barrier
    %i0: u32 = const 0
    %p0: f32 = load %group_reduce_f32[%i0]
    %i1: u32 = const 1
    %p1: f32 = load %group_reduce_f32[%i1]
    %r: f32 = max %p0, %p1
    barrier
    store %y[%z], %r)"));
}

TEST(LowerGroupReduce, EverySlotIsCombinedOnce) {
  for (const int simds : {3, 5, 32}) {
    const std::string text = after(lower_group_reduce, kBody, {}, simds * kLanes);
    const auto count = [&](const std::string& what) {
      int n = 0;
      for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
      return n;
    };
    EXPECT_EQ(count("load %group_reduce_f32["), simds) << text;
    EXPECT_EQ(count(" max %"), simds - 1 + 1) << "and the simd_reduce";
    EXPECT_EQ(count("barrier"), 2);
  }
}

TEST(LowerGroupReduce, TheResultMayDecideOverBarriers) {
  const std::string text = after(lower_group_reduce, R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %r: f32 = group_reduce max %a
    %c: bool = lt %r, %a
    %d: f32 = group_reduce min %a
    %e: bool = lt %r, %d
    if %e {
      barrier
    }
    store %y[%z], %r)");
  EXPECT_NE(text.find("    barrier\n"), std::string::npos);
}

TEST(LowerGroupReduce, OneSimdgroupOnlyKeepsTheOrder) {
  EXPECT_EQ(
      after(lower_group_reduce, kBody, {}, 32),
      text_of("%z: u32 = param %n\n%a: f32 = load %x[%z]\n%r: f32 = simd_reduce max %a\nsimd_barrier\nstore %y[%z], %r",
              32));
}

TEST(LowerGroupReduce, OneScratchArrayADtype) {
  const std::string text = after(lower_group_reduce, R"(
    %z: u32 = param %n
    %a: f32 = load %x[%z]
    %v: f32x4 = splat %a
    %r: f32 = group_reduce max %a
    %s: f32x4 = group_reduce sum %v
    %t: u32 = group_reduce min %z
    store %y[%z], %r
    store %y[%z], %s
    store %o[%z], %t)");
  EXPECT_NE(text.find("threadgroup %group_reduce_f32: f32 [8]\n  threadgroup %group_reduce_u32: u32 [2]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("align 4"), std::string::npos);
}

TEST(LowerGroupReduce, TargetsThatHaveItKeepIt) {
  EXPECT_EQ(after(lower_group_reduce, kBody, {.lower_group_reduce = false}), text_of(kBody));
}

}  // namespace
}  // namespace mt
