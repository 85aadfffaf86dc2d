#include "mt/oracle/matmul.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mt/base/error.h"
#include "mt/oracle/quantise.h"
#include "mt/oracle/testing.h"

namespace mt::oracle {
namespace {

HostTensor shaped(std::vector<std::int64_t> shape, const std::vector<double>& values) {
  HostTensor t("t", DType::F32, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) t.set(static_cast<std::int64_t>(i), values[i]);
  return t;
}

TEST(Matmul, HandComputedInEveryOrientation) {
  const HostTensor a = shaped({2, 3}, {1, 2, 3, 4, 5, 6}), a_t = shaped({3, 2}, {1, 4, 2, 5, 3, 6});
  const HostTensor b = shaped({3, 2}, {1, -1, 0, 2, 5, 3}), b_t = shaped({2, 3}, {1, 0, 5, -1, 2, 3});
  const std::vector<double> product{16, 12, 34, 24};
  for (const bool left : {false, true})
    for (const bool right : {false, true})
      EXPECT_EQ(
          matmul(left ? a_t : a, right ? b_t : b, {.m = 2, .n = 2, .k = 3, .a_transposed = left, .b_transposed = right})
              .value,
          product);
  const HostTensor c = shaped({2, 2}, {1, 1, 2, 2});
  EXPECT_EQ(matmul(a, b, {.m = 2, .n = 2, .k = 3, .addend = &c, .alpha = 0.5, .beta = -2}).value,
            (std::vector<double>{6, 4, 13, 8}));
  EXPECT_EQ(matmul(shaped({2, 0}, {}), shaped({0, 1}, {}), {.m = 2, .n = 1}).value, (std::vector<double>{0, 0}));
  EXPECT_THROW(matmul(a, b, {.m = 2, .n = 2, .k = 2}), Error);
}

HostTensor numbers(std::vector<std::int64_t> shape, const std::vector<std::int64_t>& values) {
  HostTensor t("numbers", DType::U32, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) t.set_int(static_cast<std::int64_t>(i), values[i]);
  return t;
}

TEST(Matmul, ProductsChooseTheirMatrices) {
  const HostTensor a = shaped({2, 1, 2}, {1, 2, 10, 20}), b = shaped({3, 2, 1}, {1, 0, 0, 1, 3e38, 3e38});
  const Expected e =
      gathered_matmul(a, b, numbers({4}, {1, 0, 9, 1}), numbers({4}, {0, 1, 1, 2}), {.m = 1, .n = 1, .k = 2});
  EXPECT_EQ(std::vector<double>(e.value.begin(), e.value.begin() + 3), (std::vector<double>{10, 2, 20}));
  EXPECT_EQ(e.unspecified, (std::vector<bool>{false, false, false, true}));
  EXPECT_THROW(gathered_matmul(a, b, numbers({1}, {0}), numbers({2}, {0, 0}), {.m = 1, .n = 1, .k = 2}), Error);
}

TEST(Matmul, ProductsOfSegmentsSumWhatLiesWithin) {
  const HostTensor a = shaped({1, 4}, {1, 10, 100, 1000}), b = shaped({4, 1}, {1, 2, 3, 4});
  const Expected e = segmented_matmul(a, b, numbers({5, 2}, {0, 2, 2, 4, 1, 1, 3, 99, 3, 1}), {.m = 1, .n = 1, .k = 4});
  EXPECT_EQ(e.value, (std::vector<double>{21, 4300, 0, 4000, 0}));
}

TEST(Matmul, MaskedBlocksAreZerosWhateverTheyHold) {
  const HostTensor a = shaped({2, 3}, {1, 2, 3, 4, 5, NAN}), b = shaped({3, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1});
  const HostTensor all = numbers({2, 2}, {1, 1, 1, 1}), some = numbers({2, 2}, {7, 0, 1, 1});
  const auto product = [&](const HostTensor& out, const HostTensor& left, const HostTensor& right) {
    const Masks masks{&out, &left, &right, 2};
    return matmul(a, b, {.m = 2, .n = 3, .k = 3, .masks = &masks}).value;
  };
  const HostTensor row = numbers({1, 2}, {1, 0});
  EXPECT_EQ(product(numbers({1, 2}, {1, 1}), row, all), (std::vector<double>{3, 3, 3, 9, 9, 9}));
  EXPECT_EQ(product(row, row, all), (std::vector<double>{3, 3, 0, 9, 9, 0}));
  const std::vector<double> mixed = product(numbers({1, 2}, {1, 1}), numbers({1, 2}, {1, 1}), some);
  EXPECT_EQ(std::vector<double>(mixed.begin(), mixed.begin() + 3), (std::vector<double>{6, 6, 3}));
  EXPECT_TRUE(std::isnan(mixed[3]) && std::isnan(mixed[5]));
}

TEST(Matmul, TheBoundGrowsWithDepthAndMagnitudeAndOverflowIsNotSpecified) {
  const std::vector<double> ones(64, 1);
  const auto bound = [&](std::int64_t k, double scale) {
    std::vector<double> x(static_cast<std::size_t>(k), scale);
    return matmul(shaped({1, k}, x), shaped({k, 1}, x), {.m = 1, .n = 1, .k = k}).bound[0];
  };
  EXPECT_NEAR(bound(64, 2) / bound(64, 1), 4, 1e-6);
  EXPECT_GT(bound(64, 1), 2 * bound(32, 1));
  const Expected huge = matmul(shaped({1, 2}, {3e38, 3e38}), shaped({2, 1}, {1, 1}), {.m = 1, .n = 1, .k = 2});
  ASSERT_EQ(huge.unspecified.size(), 1u);
  EXPECT_TRUE(huge.unspecified[0]);
  const Expected infinite = matmul(shaped({1, 2}, {INFINITY, 1}), shaped({2, 1}, {1, 1}), {.m = 1, .n = 1, .k = 2});
  EXPECT_EQ(infinite.value[0], INFINITY);
  EXPECT_TRUE(infinite.unspecified.empty());
}

TEST(Matmul, RowsOfExpertsMeetTheirOwnMatrix) {
  // Two experts of one row of 32 codes of 8 bits: weights are all 1, then all 2.
  HostTensor words("w", DType::U32, {2, 1, 8}), offsets("o", DType::U32, {3});
  const HostTensor scales = shaped({2, 1, 1}, {0, 0}), biases = shaped({2, 1, 1}, {1, 2});
  HostTensor x("x", DType::F32, {3, 32});
  for (std::int64_t i = 0; i < x.count(); ++i) x.set(i, 1);
  offsets.set_int(1, 1);
  offsets.set_int(2, 3);
  const auto product = [&](const OperandRounding& rounding = {}) {
    return quantised_matmul_of_experts(x, words, scales, biases, offsets, 8, 32, rounding, 1);
  };
  EXPECT_EQ(product().value, (std::vector<double>{32, 64, 64}));
  EXPECT_TRUE(product().unspecified.empty());
  EXPECT_EQ(product({.largest = 1.5}).unspecified, (std::vector<bool>{false, true, true}));
  offsets.set_int(1, 3);
  EXPECT_EQ(product().value, (std::vector<double>{32, 32, 32}));
}

}  // namespace
}  // namespace mt::oracle
