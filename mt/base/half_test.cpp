#include "mt/base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mt/base/host_tensor.h"

namespace mt {
namespace {

TEST(Half, EveryF16SurvivesTheRoundTrip) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const auto bits = static_cast<std::uint16_t>(h);
    const float x = f16_to_f32(bits);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(x)))) << h;
    } else {
      ASSERT_EQ(f32_to_f16(x), bits) << h;
    }
  }
}

TEST(Half, EveryBf16SurvivesTheRoundTrip) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const auto bits = static_cast<std::uint16_t>(h);
    const float x = bf16_to_f32(bits);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(x)))) << h;
    } else {
      ASSERT_EQ(f32_to_bf16(x), bits) << h;
    }
  }
}

TEST(Half, NarrowingFromDoubleRoundsOnceToNearestEven) {
  // Between each pair of neighbours: the midpoint goes to the even one, anything beside it to the nearer one. The
  // offsets are far below the resolution of f32, so rounding through f32 would get them wrong.
  for (std::uint32_t h = 0; h < 0x7bff; ++h) {
    const double low = f16_to_f32(static_cast<std::uint16_t>(h)), high = f16_to_f32(static_cast<std::uint16_t>(h + 1));
    const double middle = (low + high) / 2, off = middle * 0x1p-45;
    ASSERT_EQ(round_to(DType::F16, middle), h % 2 ? high : low) << h;
    ASSERT_EQ(round_to(DType::F16, middle - off), low) << h;
    ASSERT_EQ(round_to(DType::F16, middle + off), high) << h;
    ASSERT_EQ(round_to(DType::F16, -middle - off), -high) << h;
  }
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(round_to(DType::F16, 65519.999999), 65504);
  EXPECT_EQ(round_to(DType::F16, 65520), inf);
  EXPECT_EQ(round_to(DType::F16, -1e300), -inf);
  EXPECT_EQ(round_to(DType::BF16, 1e39), inf);
  EXPECT_EQ(round_to(DType::BF16, 257 + 1e-9), 258);
  EXPECT_EQ(round_to(DType::BF16, 257), 256);
  EXPECT_TRUE(std::isnan(round_to(DType::BF16, std::nan(""))));
}

TEST(Half, HalfUlpIsHalfTheDistanceToTheNextValue) {
  for (std::uint32_t h = 0; h < 0x7bff; ++h) {
    const double low = f16_to_f32(static_cast<std::uint16_t>(h)), high = f16_to_f32(static_cast<std::uint16_t>(h + 1));
    ASSERT_EQ(half_ulp(DType::F16, low), (high - low) / 2) << h;
    ASSERT_EQ(half_ulp(DType::F16, -low), (high - low) / 2) << h;
  }
  EXPECT_EQ(half_ulp(DType::F32, 1), 0x1p-24);
  EXPECT_EQ(half_ulp(DType::F32, 0), 0x1p-150);
  EXPECT_EQ(half_ulp(DType::BF16, 3), 0x1p-7);
  EXPECT_EQ(half_ulp(DType::I32, 3), 0);
}

}  // namespace
}  // namespace mt
