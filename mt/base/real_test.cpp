#include "mt/base/real.h"

#include <gtest/gtest.h>

namespace mt {
namespace {

TEST(ParseReal, TakesDecimals) {
  EXPECT_EQ(parse_real<double>("0.1"), 0.1);
  EXPECT_EQ(parse_real<float>("0.1"), 0.1f);
  EXPECT_EQ(parse_real<double>("-1.5e3"), -1500.0);
  EXPECT_EQ(parse_real<double>("2E+2"), 200.0);
  EXPECT_EQ(parse_real<double>(".5"), 0.5);
  EXPECT_EQ(parse_real<float>("1e-45"), 1e-45f);
  EXPECT_EQ(parse_real<double>("-inf"), -INFINITY);
  EXPECT_TRUE(std::isnan(parse_real<float>("nan").value()));
}

TEST(ParseReal, RoundsOnce) {
  // Between two floats, just above the middle by less than a double shows.
  EXPECT_EQ(parse_real<float>("1.00000005960464477540"), 1.00000011920928955078125f);
}

TEST(ParseReal, TakesNothingElse) {
  for (const char* text :
       {"", "-", "+1", " 1", "1 ", "0x10", "1.5x", "1e", "--1", "-+1", "infinity", "INF", "1e999", "nan(1)", "1,5"})
    EXPECT_EQ(parse_real<double>(text), std::nullopt) << text;
  EXPECT_EQ(parse_real<float>("1e39"), std::nullopt);
  EXPECT_EQ(parse_real<double>("1e39"), 1e39);
}

}  // namespace
}  // namespace mt
