#include "mt/oracle/float_codes.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "mt/base/half.h"

namespace mt::oracle {
namespace {

TEST(FloatCodes, E2m1HasSixteenNumbers) {
  const double sizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (std::uint32_t code = 0; code < 16; ++code) {
    EXPECT_EQ(std::fabs(e2m1(code)), sizes[code % 8]);
    EXPECT_EQ(std::signbit(e2m1(code)), code >= 8);
  }
}

TEST(FloatCodes, E4m3IsAHalfCutShort) {
  // Its fields are those of f16 with a narrower exponent: the same bits one place on are that number over 2^8.
  for (std::uint32_t code = 0; code < 256; ++code) {
    if ((code & 127) == 127) {
      EXPECT_TRUE(std::isnan(e4m3(code)));
      continue;
    }
    const auto half = static_cast<std::uint16_t>((code & 128) << 8 | (code & 127) << 7);
    EXPECT_EQ(e4m3(code), static_cast<double>(f16_to_f32(half)) * 256) << code;
    EXPECT_EQ(std::signbit(e4m3(code)), code >= 128) << code;
  }
  EXPECT_EQ(e4m3(0x7e), 448);
  EXPECT_EQ(e4m3(0x38), 1);
  EXPECT_EQ(e4m3(0x08), 0x1p-6);
  EXPECT_EQ(e4m3(0x01), 0x1p-9);
  EXPECT_EQ(e4m3(0x87), -7 * 0x1p-9);
}

TEST(FloatCodes, E8m0IsTheExponentOfF32) {
  EXPECT_EQ(e8m0(0), 0x1p-127);
  EXPECT_EQ(e8m0(127), 1);
  EXPECT_EQ(e8m0(254), 0x1p127);
  EXPECT_TRUE(std::isnan(e8m0(255)));
  for (std::uint32_t code = 1; code < 255; ++code)
    EXPECT_EQ(e8m0(code), static_cast<double>(std::bit_cast<float>(code << 23))) << code;
}

}  // namespace
}  // namespace mt::oracle
