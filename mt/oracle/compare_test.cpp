#include "mt/oracle/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mt/base/error.h"
#include "mt/oracle/codes.h"
#include "mt/oracle/testing.h"

namespace mt::oracle {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

bool accepts(DType dtype, double value, double bound, double actual) {
  const CompareResult r = compare({{value}, {bound}}, tensor(dtype, {1}, {actual}));
  EXPECT_EQ(r.compared, 1);
  EXPECT_EQ(r.max_error > 1, r.wrong == 1) << r.sentence;
  return r.passed();
}

TEST(Compare, ABoundOfZeroAsksForTheRoundedValue) {
  EXPECT_TRUE(accepts(DType::F32, 1, 0, 1));
  EXPECT_FALSE(accepts(DType::F32, 1, 0, 1 + 0x1p-23));
  EXPECT_FALSE(accepts(DType::F32, 1, 0, 1 - 0x1p-24));
  EXPECT_TRUE(accepts(DType::F32, 1 + 0x1p-25, 0, 1));
  EXPECT_TRUE(accepts(DType::F16, 2049, 0, 2048));
  EXPECT_FALSE(accepts(DType::F16, 2049, 0, 2050));
  EXPECT_TRUE(accepts(DType::BF16, 257, 0, 256));
  EXPECT_FALSE(accepts(DType::BF16, 257, 0, 258));
}

TEST(Compare, TheBoundReachesAsFarAsTheRoundingOfItsEnds) {
  EXPECT_TRUE(accepts(DType::F32, 1, 1e-3, 1.0009));
  EXPECT_TRUE(accepts(DType::F32, 1, 1e-3, 0.9991));
  EXPECT_FALSE(accepts(DType::F32, 1, 1e-3, 1.0011));
  EXPECT_FALSE(accepts(DType::F32, 1, 1e-3, 0.9989));
  EXPECT_TRUE(accepts(DType::F16, 2049, 0.5, 2050));
  EXPECT_FALSE(accepts(DType::F16, 2049, 0.5, 2052));
  EXPECT_TRUE(accepts(DType::BF16, 257, 0.001, 258));
}

TEST(Compare, OverflowOfTheStoreIsRightWhereTheBoundReachesIt) {
  EXPECT_TRUE(accepts(DType::F16, 65519, 0, 65504));
  EXPECT_FALSE(accepts(DType::F16, 65519, 0, kInf));
  EXPECT_TRUE(accepts(DType::F16, 65519, 2, kInf));
  EXPECT_TRUE(accepts(DType::F16, 65519, 2, 65504));
  EXPECT_TRUE(accepts(DType::F16, 70000, 1, kInf));
  EXPECT_FALSE(accepts(DType::F16, 70000, 1, 65504));
  EXPECT_TRUE(accepts(DType::F16, -70000, 1, -kInf));
  EXPECT_FALSE(accepts(DType::F16, -70000, 1, kInf));
  EXPECT_TRUE(accepts(DType::F32, 1e39, 1e30, kInf));
}

TEST(Compare, NanMeetsNanAndInfinityTheSameInfinity) {
  EXPECT_TRUE(accepts(DType::F32, kNan, 0, kNan));
  EXPECT_FALSE(accepts(DType::F32, kNan, 0, 0));
  EXPECT_FALSE(accepts(DType::F32, 0, 1e30, kNan));
  EXPECT_TRUE(accepts(DType::BF16, kInf, 0, kInf));
  EXPECT_FALSE(accepts(DType::F32, kInf, 0, -kInf));
  EXPECT_FALSE(accepts(DType::F32, kInf, 0, 3e38));
  EXPECT_FALSE(accepts(DType::F32, 3, 1, kInf));
}

TEST(Compare, ZerosAreEqualUnlessAskedFor) {
  EXPECT_TRUE(accepts(DType::F32, 0, 0, -0.0));
  EXPECT_EQ(compare({{0}, {0}}, vec({-0.0}), {.signed_zeros = true}).wrong, 1);
  EXPECT_EQ(compare({{-0.0}, {0}}, vec({-0.0}), {.signed_zeros = true}).wrong, 0);
}

TEST(Compare, IntegersAreExactAndAlternativesCount) {
  EXPECT_TRUE(accepts(DType::U32, 4294967295.0, 0, 4294967295.0));
  EXPECT_FALSE(accepts(DType::I32, -5, 0, -4));
  const Expected either{{3}, {0}, {3}, {4}};
  EXPECT_TRUE(compare(either, vec({3}, DType::U8)).passed());
  EXPECT_TRUE(compare(either, vec({4}, DType::U8)).passed());
  EXPECT_FALSE(compare(either, vec({5}, DType::U8)).passed());
  EXPECT_FALSE(compare(either, vec({2}, DType::U8)).passed());
}

TEST(Compare, WhatIsNotSpecifiedMayBeAnythingAndDoesNotCount) {
  Expected e{{1, 2, 3}, {0, 0, 0}};
  e.unspecified = {false, true, false};
  for (const double any : {-7.0, kNan, kInf}) {
    const CompareResult r = compare(e, vec({1, any, 3}));
    EXPECT_TRUE(r.passed()) << r.sentence;
    EXPECT_EQ(r.compared, 2);
    EXPECT_EQ(r.unspecified, 1);
    EXPECT_EQ(compare(e, vec({any, any, 3})).wrong, 1);
  }
  e.unspecified = {true, true, true};
  EXPECT_EQ(compare(e, vec({4, 4, 4})).compared, 0);
  e.unspecified = {true};
  EXPECT_THROW(compare(e, vec({1, 2, 3})), Error);
}

TEST(Compare, PackedCodesAreComparedOneByOne) {
  const HostTensor words = pack_codes({1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 31}, 5, 6);
  Expected e{{1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 31}, std::vector<double>(12), {}, {}, 5, 6};
  EXPECT_EQ(compare(e, words).compared, 12);
  EXPECT_TRUE(compare(e, words).passed());
  e.value[9] = 3;
  const CompareResult r = compare(e, words);
  EXPECT_EQ(r.wrong, 1);
  EXPECT_EQ(r.first_wrong, 9);
  EXPECT_NE(r.sentence.find("code [1, 3]"), std::string::npos) << r.sentence;
  e.codes_per_row = 12;
  EXPECT_NO_THROW(compare(e, pack_codes(std::vector<std::uint32_t>(12, 1), 5, 12)));
  EXPECT_THROW(compare(e, pack_codes(std::vector<std::uint32_t>(24, 1), 5, 12)), Error);
}

TEST(Compare, WhatChecksNothingIsAnError) {
  EXPECT_THROW(compare({}, HostTensor("empty", DType::F32, {0})), Error);
  EXPECT_THROW(compare({{1, 2}, {0, 0}}, vec({1})), Error);
  EXPECT_THROW(compare({{1}, {0}}, vec({1, 2})), Error);
  EXPECT_THROW(compare({{1, 2}, {0}}, vec({1, 2})), Error);
  EXPECT_THROW(compare({{1}, {kNan}}, vec({1})), Error);
  EXPECT_THROW(compare({{1}, {kInf}}, vec({1})), Error);
  EXPECT_THROW(compare({{1}, {-1}}, vec({1})), Error);
  EXPECT_THROW(compare({{1}, {0}, {1}, {}}, vec({1})), Error);
}

TEST(Compare, EveryElementCountsAndTheFirstWrongOneIsNamed) {
  const std::int64_t rows = 301, n = 1001;
  HostTensor t("big", DType::F32, {rows, n});
  Expected e{std::vector<double>(static_cast<std::size_t>(rows * n)),
             std::vector<double>(static_cast<std::size_t>(rows * n), 1)};
  for (const std::int64_t at : {std::int64_t{0}, rows * n / 2, rows * n - 1}) {
    t.set(at, 3);
    const CompareResult r = compare(e, t);
    EXPECT_EQ(r.compared, rows * n);
    EXPECT_EQ(r.wrong, 1);
    EXPECT_EQ(r.first_wrong, at);
    EXPECT_NEAR(r.max_error, 3, 1e-6);
    EXPECT_EQ(r.max_absolute_error, 3);
    t.set(at, 0);
  }
  t.set(7 * n + 9, -2);
  t.set(200 * n, kNan);
  const CompareResult r = compare(e, t);
  EXPECT_EQ(r.wrong, 2);
  EXPECT_EQ(r.first_wrong, 7 * n + 9);
  EXPECT_EQ(r.max_absolute_error, kInf);
  EXPECT_EQ(r.sentence, "big: 2 of 301301 are wrong, first element [7, 9]: got -2, expected 0 ± 1");
}

}  // namespace
}  // namespace mt::oracle
