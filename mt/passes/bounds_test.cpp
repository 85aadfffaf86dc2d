#include "mt/passes/bounds.h"

#include "mt/passes/testing.h"

namespace mt {
namespace {

constexpr std::uint64_t kMax = 0xffffffffu;

/// Bounds of the value %v of a body.
std::pair<std::uint64_t, std::uint64_t> bounds_of(const std::string& body) {
  const Kernel k = parsed(with_body(body + "\n%f: f32 = const 0.0\n%z: u32 = const 0\nstore %y[%z], %f"));
  for (std::size_t v = 0; v < k.values.size(); ++v)
    if (k.values[v].name == "v") return {at_least(k, static_cast<ValueId>(v)), at_most(k, static_cast<ValueId>(v))};
  ADD_FAILURE() << "no %v in " << body;
  return {};
}
std::pair<std::uint64_t, std::uint64_t> pair(std::uint64_t low, std::uint64_t high) { return {low, high}; }

const std::string kStart =
    "%n: u32 = param %n\n%l: u32 = lane_id\n%t: u32 = thread_id\n%s: u32 = simd_id\n%c3: u32 = const 3\n"
    "%c8: u32 = const 8\n%c40: u32 = const 40\n%c64: u32 = const 64\n";

TEST(Bounds, OfArithmetic) {
  EXPECT_EQ(bounds_of(kStart + "%v: u32 = add %l, %c8"), pair(8, 39));
  EXPECT_EQ(bounds_of(kStart + "%v: u32 = mul %s, %c40"), pair(0, 40));
  EXPECT_EQ(bounds_of(kStart + "%v: u32 = rem %n, %c40"), pair(0, 39));
  EXPECT_EQ(bounds_of(kStart + "%v: u32 = div %t, %c8"), pair(0, 7));
  EXPECT_EQ(bounds_of(kStart + "%v: u32 = shr %t, %c3"), pair(0, 7));
  EXPECT_EQ(bounds_of(kStart + "%v: u32 = bit_and %n, %c40"), pair(0, 40));
  EXPECT_EQ(bounds_of(kStart + "%v: u32 = min %n, %c40"), pair(0, 40));
  EXPECT_EQ(bounds_of(kStart + "%v: u32 = max %n, %c40"), pair(40, kMax));
  EXPECT_EQ(bounds_of(kStart + "%v: u32 = sub %c64, %l"), pair(33, 64));
}

TEST(Bounds, WhatMayWrapIsUnknown) {
  EXPECT_EQ(bounds_of(kStart + "%v: u32 = add %n, %c8"), pair(0, kMax));
  EXPECT_EQ(bounds_of(kStart + "%v: u32 = mul %n, %c8"), pair(0, kMax));
  EXPECT_EQ(bounds_of(kStart + "%v: u32 = shl %n, %c3"), pair(0, kMax));
  EXPECT_EQ(bounds_of(kStart + "%v: u32 = sub %l, %c8"), pair(0, kMax));
}

TEST(Bounds, ADifferenceThatStopsAtZero) {
  EXPECT_EQ(bounds_of(kStart + "%x: u32 = min %c64, %l\n%v: u32 = sub %c64, %x"), pair(33, 64));
  EXPECT_EQ(bounds_of(kStart + "%x: u32 = min %n, %c64\n%v: u32 = sub %c64, %x"), pair(0, 64));
  EXPECT_EQ(bounds_of(kStart + "%x: u32 = min %n, %l\n%v: u32 = sub %n, %x"), pair(0, kMax));
}

TEST(Bounds, OfWhatALoopCounts) {
  const auto loop = [](const std::string& bounds) {
    return kStart + "for %v: u32 = " + bounds + " {\n%q: f32 = const 1.0\nstore %y[%v], %q\n}";
  };
  EXPECT_EQ(bounds_of(loop("%c3 to %c64 step %c8")), pair(3, 59));
  EXPECT_EQ(bounds_of(loop("%l to %c64 step %c8")), pair(0, 63));
  EXPECT_EQ(bounds_of(loop("%c8 to %n step %c8")), pair(0, kMax)) << "the last step may wrap";
}

}  // namespace
}  // namespace mt
