#include "mt/oracle/fill.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "mt/base/error.h"
#include "mt/oracle/testing.h"

namespace mt::oracle {
namespace {

HostTensor filled(DType dtype, std::vector<std::int64_t> shape, const Fill& how, std::uint64_t seed = 1,
                  const std::string& name = "x", bool edges = false, std::int64_t below = 0) {
  HostTensor t(name, dtype, std::move(shape));
  fill(t, how, seed, below, edges);
  return t;
}

TEST(Fill, DependsOnSeedAndNameAlone) {
  const HostTensor a = filled(DType::F32, {100000}, Fill::normal());
  EXPECT_EQ(a.data, filled(DType::F32, {100000}, Fill::normal()).data);
  EXPECT_NE(a.data, filled(DType::F32, {100000}, Fill::normal(), 2).data);
  EXPECT_NE(a.data, filled(DType::F32, {100000}, Fill::normal(), 1, "y").data);
  const HostTensor shorter = filled(DType::F32, {70000}, Fill::normal());
  EXPECT_TRUE(std::equal(shorter.data.begin(), shorter.data.end(), a.data.begin()));
}

TEST(Fill, NormalHasItsMomentsAndTails) {
  const std::int64_t n = 1 << 20;
  const HostTensor t = filled(DType::F32, {n}, Fill::normal(3, 2));
  double sum = 0, squares = 0, cubes = 0, fourths = 0, far = 0, lag = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double z = (t.at(i) - 3) / 2;
    sum += z;
    squares += z * z;
    cubes += z * z * z;
    fourths += z * z * z * z;
    far += std::fabs(z) > 3;
    if (i > 0) lag += z * (t.at(i - 1) - 3) / 2;
  }
  const auto count = static_cast<double>(n);
  EXPECT_NEAR(sum / count, 0, 0.005);
  EXPECT_NEAR(squares / count, 1, 0.01);
  EXPECT_NEAR(cubes / count, 0, 0.02);
  EXPECT_NEAR(fourths / count, 3, 0.1);
  EXPECT_NEAR(far / count, 0.0025, 0.001);
  EXPECT_NEAR(lag / count, 0, 0.005);
}

TEST(Fill, RangesAreKeptAndCovered) {
  const HostTensor u = filled(DType::F32, {50000}, Fill::uniform(-1, 3));
  double low = 9, high = -9;
  for (std::int64_t i = 0; i < u.count(); ++i) {
    low = std::min(low, u.at(i));
    high = std::max(high, u.at(i));
  }
  EXPECT_TRUE(low >= -1 && low < -0.99 && high <= 3 && high > 2.99);
  for (const DType dtype : {DType::U32, DType::U8, DType::I32, DType::F16}) {
    std::set<std::int64_t> seen;
    const HostTensor k = filled(dtype, {5000}, Fill::integers(2, 11));
    for (std::int64_t i = 0; i < k.count(); ++i) seen.insert(k.int_at(i));
    EXPECT_EQ(seen, (std::set<std::int64_t>{2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  }
  std::set<std::int64_t> seen;
  const HostTensor index = filled(DType::U32, {1000}, Fill::index("rows"), 1, "i", false, 5);
  for (std::int64_t i = 0; i < index.count(); ++i) seen.insert(index.int_at(i));
  EXPECT_EQ(seen, (std::set<std::int64_t>{0, 1, 2, 3, 4}));
  seen.clear();
  const HostTensor wrong = filled(DType::U32, {1000}, Fill::index("rows", 2), 1, "i", false, 2);
  for (std::int64_t i = 0; i < wrong.count(); ++i) seen.insert(wrong.int_at(i));
  EXPECT_EQ(seen, (std::set<std::int64_t>{0, 1, 2, 3}));
  EXPECT_THROW(filled(DType::U32, {1}, Fill::index("rows"), 1, "i", false, 0), Error);
  EXPECT_THROW(filled(DType::F32, {1}, Fill::uniform(2, 1)), Error);
  EXPECT_NO_THROW(filled(DType::U32, {0}, Fill::index("rows")));
}

TEST(Fill, ConstantIotaAndBits) {
  EXPECT_EQ(filled(DType::F16, {3}, Fill::constant(-2.5)).at(2), -2.5);
  EXPECT_EQ(filled(DType::I32, {4000}, Fill::iota()).at(3999), 3999);
  const HostTensor bits = filled(DType::U32, {1 << 16}, Fill::bits());
  std::int64_t ones[32] = {};
  for (std::int64_t i = 0; i < bits.count(); ++i)
    for (int b = 0; b < 32; ++b) ones[b] += (bits.int_at(i) >> b) & 1;
  for (const std::int64_t c : ones) EXPECT_NEAR(static_cast<double>(c) / (1 << 16), 0.5, 0.015);
  Fill some = Fill::bits();
  some.a = 0x80bf0001;
  const HostTensor masked = filled(DType::U32, {101}, some);
  std::int64_t seen = 0;
  for (std::int64_t i = 0; i < masked.count(); ++i) seen |= masked.int_at(i);
  EXPECT_EQ(seen, 0x80bf0001);
  EXPECT_EQ(filled(DType::U8, {13}, Fill::bits()).bytes(), 13u);
  for (std::int64_t i = 0; i < 13; ++i)
    EXPECT_LE(std::to_integer<int>(filled(DType::Bool, {13}, Fill::bits()).data[static_cast<std::size_t>(i)]), 1);
}

TEST(Fill, RowsHaveMagnitudesOfTheirOwn) {
  const HostTensor t = filled(DType::F32, {64, 256}, Fill::row_scaled());
  std::set<int> scales;
  for (std::int64_t row = 0; row < 64; ++row) {
    double squares = 0;
    for (std::int64_t i = 0; i < 256; ++i) squares += t.at(row * 256 + i) * t.at(row * 256 + i);
    const double scale = 0.5 * std::log2(squares / 256);
    EXPECT_NEAR(scale, std::round(scale), 0.25);
    scales.insert(static_cast<int>(std::lround(scale)));
  }
  EXPECT_GE(scales.size(), 10u);
  EXPECT_EQ(*scales.begin(), -6);
  EXPECT_EQ(*scales.rbegin(), 6);
}

TEST(Fill, SomeRowsAreFlat) {
  const HostTensor t = filled(DType::F32, {12, 2000}, Fill::row_scaled().with_flat_rows());
  const HostTensor plain = filled(DType::F32, {12, 2000}, Fill::row_scaled());
  for (std::int64_t row = 0; row < 12; ++row)
    for (std::int64_t i = 0; i < 2000; ++i)
      EXPECT_EQ(t.at(row * 2000 + i), plain.at(row * 2000 + (row % 8 == 2 ? 0 : i)));
}

TEST(Fill, MasksHaveHolesAndRowsThatHideAll) {
  const HostTensor t = filled(DType::F16, {12, 2000}, Fill::normal().with_holes());
  const HostTensor plain = filled(DType::F16, {12, 2000}, Fill::normal());
  const HostTensor flags = filled(DType::U8, {12, 2000}, Fill::integers(1, 3).with_holes());
  for (std::int64_t row = 0; row < 12; ++row) {
    int holes = 0, zeros = 0;
    for (std::int64_t i = row * 2000; i < (row + 1) * 2000; ++i) {
      const bool hole = std::isinf(t.at(i)) && t.at(i) < 0;
      holes += hole ? 1 : 0;
      zeros += flags.at(i) == 0 ? 1 : 0;
      EXPECT_TRUE(hole || t.at(i) == plain.at(i)) << i;
      EXPECT_LE(flags.at(i), 3);
    }
    EXPECT_NEAR(holes, row % 8 == 3 ? 2000 : 667, row % 8 == 3 ? 0 : 100);
    EXPECT_NEAR(zeros, row % 8 == 3 ? 2000 : 667, row % 8 == 3 ? 0 : 100);
  }
}

TEST(Fill, RowsAreShiftedInTurn) {
  const HostTensor t = filled(DType::F32, {6, 256}, Fill::row_shifted(4, 200));
  const double around[] = {0, 200, -200};
  for (std::int64_t row = 0; row < 6; ++row) {
    double mean = 0, squares = 0;
    for (std::int64_t i = 0; i < 256; ++i) mean += t.at(row * 256 + i) / 256;
    for (std::int64_t i = 0; i < 256; ++i) squares += std::pow(t.at(row * 256 + i) - mean, 2) / 256;
    EXPECT_NEAR(mean, around[row % 3], 1);
    EXPECT_NEAR(std::sqrt(squares), 4, 0.6);
  }
}

TEST(Fill, EdgesArePlantedEverywhereInOneRowAndKeepMostRowsFinite) {
  for (const DType dtype : kFloats) {
    const HostTensor flat = filled(dtype, {300}, Fill::normal(), 1, "x", true);
    int infinities = 0, nans = 0, negative_zeros = 0, subnormals = 0, repeats = 0;
    for (std::int64_t i = 0; i < 300; ++i) {
      const double v = flat.at(i);
      infinities += std::isinf(v);
      nans += std::isnan(v);
      negative_zeros += v == 0 && std::signbit(v);
      subnormals += v != 0 && std::fabs(v) < (dtype == DType::F16 ? 0x1p-14 : 0x1p-126);
      repeats += i > 0 && v == flat.at(i - 1);
    }
    EXPECT_GE(infinities, 6);
    EXPECT_GE(nans, 3);
    EXPECT_GE(negative_zeros, 1);
    EXPECT_GE(subnormals, 3);
    EXPECT_GE(repeats, 1);
    const HostTensor rows = filled(dtype, {30, 40}, Fill::normal(), 1, "x", true);
    int finite = 0;
    for (std::int64_t row = 0; row < 30; ++row) {
      bool ok = true;
      for (std::int64_t i = 0; i < 40; ++i) ok = ok && std::isfinite(rows.at(row * 40 + i));
      finite += ok;
    }
    EXPECT_EQ(finite, 23);  // of the ten rows with one wild value, three hold a finite extreme
  }
  EXPECT_EQ(filled(DType::F32, {37, 40}, Fill::normal(), 1, "x", true).at(40), INFINITY);
  EXPECT_EQ(filled(DType::F32, {37, 40}, Fill::normal(), 1, "x", true).at(10 * 40), -INFINITY);
  EXPECT_EQ(filled(DType::F32, {300}, Fill::normal().without_edges(), 1, "x", true).data,
            filled(DType::F32, {300}, Fill::normal()).data);
  EXPECT_EQ(filled(DType::U32, {300}, Fill::integers(0, 9), 1, "x", true).data,
            filled(DType::U32, {300}, Fill::integers(0, 9)).data);
}

TEST(Fill, EdgesOfTwoTensorsMeetEachOtherAndPlainNumbers) {
  const HostTensor a = filled(DType::F32, {1031}, Fill::normal(), 1, "a", true);
  const HostTensor b = filled(DType::F32, {1031}, Fill::normal(), 1, "b", true);
  int nan_plain = 0, plain_nan = 0, nan_infinity = 0, same_infinity = 0, other_infinity = 0;
  for (std::int64_t i = 0; i < 1031; ++i) {
    const double x = a.at(i), y = b.at(i);
    nan_plain += std::isnan(x) && std::isfinite(y);
    plain_nan += std::isfinite(x) && std::isnan(y);
    nan_infinity += std::isnan(x) && std::isinf(y);
    same_infinity += std::isinf(x) && x == y;
    other_infinity += std::isinf(x) && x == -y;
  }
  for (const int n : {nan_plain, plain_nan, nan_infinity, same_infinity, other_infinity}) EXPECT_GE(n, 1);
}

}  // namespace
}  // namespace mt::oracle
