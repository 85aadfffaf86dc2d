#include "mt/oracle/values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "mt/oracle/testing.h"

namespace mt::oracle {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

HostTensor laid(Values values, DType dtype = DType::F32, std::vector<std::int64_t> shape = {3, 7}) {
  HostTensor t = random_normal(dtype, std::move(shape), 5);
  lay_values(t, values);
  return t;
}

TEST(Values, EachHasItsName) {
  std::set<std::string_view> names;
  for (int v = 0; v <= static_cast<int>(Values::NanTail); ++v) names.insert(name_of(static_cast<Values>(v)));
  EXPECT_EQ(names.size(), 13u);
  EXPECT_EQ(name_of(Values::HeadMinusInf), "head_minus_inf");
}

TEST(Values, ConstantPatternsHoldOneNumber) {
  for (const DType dtype : kFloats)
    for (const auto& [values, number] :
         {std::pair{Values::Zeros, 0.0}, {Values::Ones, 1.0}, {Values::MinusInf, -kInf}}) {
      const HostTensor t = laid(values, dtype);
      for (std::int64_t i = 0; i < t.count(); ++i) EXPECT_EQ(t.at(i), number);
    }
  const HostTensor equal = laid(Values::Equal);
  for (std::int64_t i = 0; i < equal.count(); ++i) EXPECT_EQ(equal.at(i), equal.at(0));
  EXPECT_NE(equal.at(0), 0);
}

TEST(Values, ScaledPatternsKeepTheDeclaredNumbers) {
  const HostTensor declared = laid(Values::Declared), tiny = laid(Values::Tiny), large = laid(Values::Large);
  for (std::int64_t i = 0; i < declared.count(); ++i) {
    EXPECT_EQ(tiny.at(i), declared.at(i) * 0x1p-20);
    EXPECT_EQ(large.at(i), declared.at(i) * 64);
  }
  const HostTensor half = laid(Values::Tiny, DType::F16);
  for (std::int64_t i = 0; i < half.count(); ++i) EXPECT_LT(std::fabs(half.at(i)), 0x1p-14) << "a subnormal";
}

TEST(Values, AlternatingSumsToNothing) {
  const HostTensor t = laid(Values::Alternating, DType::F16, {2, 8});
  double sum = 0, magnitude = 0;
  for (std::int64_t i = 0; i < t.count(); ++i) {
    sum += t.at(i);
    magnitude += std::fabs(t.at(i));
  }
  EXPECT_EQ(sum, 0);
  EXPECT_GT(magnitude, 1);
}

TEST(Values, SpikeHasOneLargeElementARow) {
  const HostTensor t = laid(Values::Spike, DType::BF16, {6, 9});
  std::set<std::int64_t> columns;
  for (std::int64_t row = 0; row < 6; ++row) {
    int large = 0;
    for (std::int64_t i = 0; i < 9; ++i)
      if (std::fabs(t.at(row * 9 + i)) > 100) {
        ++large;
        columns.insert(i);
      }
    EXPECT_EQ(large, 1);
  }
  EXPECT_GT(columns.size(), 2u) << "at different places";
}

TEST(Values, HeadMinusInfLeavesTheRest) {
  const HostTensor t = laid(Values::HeadMinusInf);
  for (std::int64_t row = 0; row < 3; ++row)
    for (std::int64_t i = 0; i < 7; ++i) EXPECT_EQ(t.at(row * 7 + i) == -kInf, i < 4) << row << " " << i;
}

TEST(Values, NanTailIsTheEndOfTheAxisBeforeTheLast) {
  const HostTensor t = laid(Values::NanTail, DType::F32, {2, 6, 5}),
                   single = laid(Values::NanTail, DType::F32, {4, 1, 5});
  for (std::int64_t i = 0; i < t.count(); ++i) EXPECT_EQ(std::isnan(t.at(i)), i / 5 % 6 >= 4) << i;
  for (std::int64_t i = 0; i < single.count(); ++i) EXPECT_FALSE(std::isnan(single.at(i)));
}

TEST(Values, RisingGrowsFromRowToRow) {
  const HostTensor t = laid(Values::Rising, DType::F32, {2, 64, 5});
  for (std::int64_t i = 0; i < t.count(); ++i)
    EXPECT_NEAR(t.at(i), 0.125 + static_cast<double>(i / 5 % 64) / 256, 6.0 / 256) << i;
  EXPECT_NE(t.at(0), t.at(1));
}

TEST(Values, RampRisesAndFallsBack) {
  const HostTensor t = laid(Values::Ramp, DType::F32, {200});
  EXPECT_EQ(t.at(1) - t.at(0), 0.125);
  EXPECT_EQ(t.at(97), t.at(0));
}

}  // namespace
}  // namespace mt::oracle
