#include "mt/oracle/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mt/base/error.h"
#include "mt/oracle/compare.h"
#include "mt/oracle/testing.h"

namespace mt::oracle {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");
using Values = std::vector<double>;

TEST(Reduce, HandComputed) {
  const HostTensor x = tensor(DType::F32, {2, 3}, {1, -4, 2, 0.5, 8, -1});
  EXPECT_EQ(row_reduce(Reduction::Sum, x).value, (Values{-1, 7.5}));
  EXPECT_EQ(row_reduce(Reduction::Prod, x).value, (Values{-8, -4}));
  EXPECT_EQ(row_reduce(Reduction::Max, x).value, (Values{2, 8}));
  EXPECT_EQ(row_reduce(Reduction::Min, x).value, (Values{-4, -1}));
  EXPECT_EQ(all_reduce(Reduction::Sum, x).value, (Values{6.5}));
  EXPECT_EQ(all_reduce(Reduction::Prod, x).value, (Values{32}));
  EXPECT_EQ(all_reduce(Reduction::Max, x).value, (Values{8}));
  EXPECT_EQ(all_reduce(Reduction::Min, x).value, (Values{-4}));
}

TEST(Reduce, NoElementNanAndInfinity) {
  const HostTensor none("none", DType::F32, {2, 0});
  EXPECT_EQ(row_reduce(Reduction::Sum, none).value, (Values{0, 0}));
  EXPECT_EQ(row_reduce(Reduction::Prod, none).value, (Values{1, 1}));
  EXPECT_EQ(row_reduce(Reduction::Max, none).value, (Values{-kInf, -kInf}));
  EXPECT_EQ(all_reduce(Reduction::Min, none).value, (Values{kInf}));
  for (const Values& v : {Values{kNan, 1, 2}, Values{1, kNan, 2}, Values{1, 2, kNan}})
    for (const Reduction op : {Reduction::Sum, Reduction::Prod, Reduction::Max, Reduction::Min})
      EXPECT_TRUE(std::isnan(row_reduce(op, tensor(DType::F32, {1, 3}, v)).value[0]));
  EXPECT_EQ(row_reduce(Reduction::Sum, vec({1, kInf})).value[0], kInf);
  EXPECT_TRUE(std::isnan(row_reduce(Reduction::Sum, vec({-kInf, kInf})).value[0]));
}

TEST(Reduce, SumsInF32AreAcceptedAndADroppedElementIsNot) {
  for (const DType dtype : kFloats)
    for (const std::int64_t n : {1, 2, 3, 31, 32, 33, 100, 1000, 4096}) {
      const HostTensor x = random_normal(dtype, {200, n}, 4, 1, 1);
      const Expected e = row_reduce(Reduction::Sum, x);
      for (const Order order : kOrders) {
        HostTensor out("out", DType::F32, {200});
        for (std::int64_t row = 0; row < 200; ++row)
          out.set(row, static_cast<double>(
                           f32_sum(n, order, [&](std::int64_t i) { return static_cast<float>(x.at(row * n + i)); })));
        EXPECT_TRUE(compare(e, out).passed()) << n << ' ' << compare(e, out).sentence;
        HostTensor dropped = out;
        for (std::int64_t row = 0; row < 200; ++row) dropped.set(row, out.at(row) - x.at(row * n + n / 2));
        EXPECT_GT(compare(e, dropped).wrong, 180) << n;
      }
    }
}

/// Each addition of an equal term makes the same error while the sum stays between two powers of two.
TEST(Reduce, EqualTermsRoundAlikeAndAreAccepted) {
  const std::int64_t n = 1 << 21, lanes = 128;
  HostTensor x("x", DType::F32, {n});
  std::fill_n(x.as<float>(), n, 0.7f);
  float sums[lanes] = {};
  for (std::int64_t i = 0; i < n; ++i) sums[i % lanes] += 0.7f;
  double sum = 0;
  for (const float s : sums) sum += static_cast<double>(s);
  const Expected e = row_reduce(Reduction::Sum, x);
  EXPECT_TRUE(compare(e, vec({sum})).passed()) << compare(e, vec({sum})).sentence;
  EXPECT_GT(std::fabs(sum - e.value[0]), 6 * std::sqrt(static_cast<double>(n) / 32) * 0x1p-24 * e.value[0])
      << "more than a random walk";
}

TEST(Reduce, PowersOfTwoMultiplyExactly) {
  const HostTensor x = vec({0.5, 4, -2, 1, 0.25, -1});
  EXPECT_LT(row_reduce(Reduction::Prod, x).bound[0], 1e-30);
  EXPECT_EQ(row_reduce(Reduction::Prod, x).value[0], 1);
  EXPECT_LT(row_reduce(Reduction::Prod, vec({0.5, 3, -2})).bound[0], 1e-30) << "one factor that is none";
  EXPECT_GT(row_reduce(Reduction::Prod, vec({0.5, 3, -3})).bound[0], 1e-8);
}

TEST(Reduce, ProductsInF32AreAcceptedAndADroppedElementIsNot) {
  for (const std::int64_t n : {1, 2, 33, 1000, 4096}) {
    const HostTensor x = random_normal(DType::F32, {100, n}, 4, 1, 0.01);
    HostTensor out("out", DType::F32, {100}), dropped = out;
    for (std::int64_t row = 0; row < 100; ++row) {
      float product = 1;
      for (std::int64_t i = 0; i < n; ++i) product *= static_cast<float>(x.at(row * n + i));
      out.set(row, static_cast<double>(product));
      dropped.set(row, static_cast<double>(product) / x.at(row * n));
    }
    const Expected e = row_reduce(Reduction::Prod, x);
    EXPECT_TRUE(compare(e, out).passed()) << n << ' ' << compare(e, out).sentence;
    EXPECT_GT(compare(e, dropped).wrong, 90) << n;
  }
}

TEST(Reduce, AllReduceSeesADroppedBlockOfALargeTensor) {
  const std::int64_t n = 1 << 20;
  const HostTensor x = random_normal(DType::F32, {n}, 9, 0.5, 1);
  const Expected e = all_reduce(Reduction::Sum, x);
  float groups[256] = {};
  for (std::int64_t i = 0; i < n; ++i) groups[i / (n / 256)] += static_cast<float>(x.at(i));
  float sum = 0;
  for (const float g : groups) sum += g;
  EXPECT_TRUE(compare(e, vec({static_cast<double>(sum)})).passed());
  EXPECT_FALSE(compare(e, vec({static_cast<double>(sum - groups[100])})).passed());
  EXPECT_EQ(all_reduce(Reduction::Max, x).value[0], *std::max_element(x.as<float>(), x.as<float>() + n));
}

TEST(Scan, HandComputed) {
  const HostTensor x = tensor(DType::F32, {2, 3}, {1, 2, 3, -1, 5, 2});
  const auto in = ScanKind::Inclusive, out = ScanKind::Exclusive;
  EXPECT_EQ(scan(Reduction::Sum, in, x).value, (Values{1, 3, 6, -1, 4, 6}));
  EXPECT_EQ(scan(Reduction::Sum, out, x).value, (Values{0, 1, 3, 0, -1, 4}));
  EXPECT_EQ(scan(Reduction::Prod, in, x).value, (Values{1, 2, 6, -1, -5, -10}));
  EXPECT_EQ(scan(Reduction::Prod, out, x).value, (Values{1, 1, 2, 1, -1, -5}));
  EXPECT_EQ(scan(Reduction::Max, in, x).value, (Values{1, 2, 3, -1, 5, 5}));
  EXPECT_EQ(scan(Reduction::Max, out, x).value, (Values{-kInf, 1, 2, -kInf, -1, 5}));
  EXPECT_EQ(scan(Reduction::Min, in, x).value, (Values{1, 1, 1, -1, -1, -1}));
  EXPECT_EQ(scan(Reduction::Min, out, x).value, (Values{kInf, 1, 1, kInf, -1, -1}));
  const Expected nan = scan(Reduction::Max, in, vec({1, kNan, 3}));
  EXPECT_EQ(nan.value[0], 1);
  EXPECT_TRUE(std::isnan(nan.value[1]) && std::isnan(nan.value[2]));
}

TEST(Scan, OnesCountUpAndRoundOnceAtTheStore) {
  // Running sums kept in the narrow dtype would stall at 2048 in f16 and at 256 in bf16.
  for (const DType dtype : {DType::F16, DType::BF16}) {
    const HostTensor ones = tensor(dtype, {1, 5000}, Values(5000, 1));
    const Expected e = scan(Reduction::Sum, ScanKind::Inclusive, ones);
    HostTensor right("out", dtype, {5000}), stalled = right;
    float sum = 0, narrow = 0;
    for (std::int64_t i = 0; i < 5000; ++i) {
      right.set(i, static_cast<double>(sum += 1));
      narrow = static_cast<float>(round_to(dtype, static_cast<double>(narrow + 1)));
      stalled.set(i, static_cast<double>(narrow));
    }
    EXPECT_TRUE(compare(e, right).passed());
    EXPECT_GT(compare(e, stalled).wrong, 2000);
    EXPECT_EQ(right.at(4999), dtype == DType::F16 ? 5000 : 4992);
  }
}

TEST(Scan, AcceptsChunksOfLanesAndRejectsALostCarry) {
  for (const DType dtype : kFloats) {
    const std::int64_t n = 3000;
    const HostTensor x = random_normal(dtype, {1, n}, 11);
    for (const bool carry : {true, false}) {
      HostTensor out("out", dtype, {n});
      float base = 0, lane = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        if (i % 32 == 0) {
          base = carry || i % 1024 != 0 ? base + lane : 0;
          lane = 0;
        }
        lane += static_cast<float>(x.at(i));
        out.set(i, static_cast<double>(base + lane));
      }
      const CompareResult r = compare(scan(Reduction::Sum, ScanKind::Inclusive, x), out);
      EXPECT_EQ(r.passed(), carry) << r.sentence;
      if (!carry) {
        EXPECT_GE(r.first_wrong, 1024);
        EXPECT_GT(r.wrong, 1900);
      }
    }
  }
}

TEST(ArgReduce, FirstOfEqualsAndNanIsTheExtreme) {
  const HostTensor x =
      tensor(DType::F32, {4, 4}, {1, 3, 3, 2, -1, -1, 0, 0, 1, kNan, 9, kNan, kInf, -kInf, kInf, -kInf});
  EXPECT_EQ(arg_max(x).value, (Values{1, 2, 1, 0}));
  EXPECT_EQ(arg_min(x).value, (Values{0, 0, 1, 1}));
  EXPECT_EQ(arg_max_all(x).value, (Values{9}));
  EXPECT_EQ(arg_min_all(vec({4, 2, 2})).value, (Values{1}));
  EXPECT_FALSE(compare(arg_max(vec({1, 3, 3})), vec({2}, DType::U32)).passed());
  EXPECT_THROW(arg_max(HostTensor("none", DType::F32, {2, 0})), Error);
}

TEST(Sort, AscendingNanLastAndStable) {
  const HostTensor x = tensor(DType::F32, {2, 5}, {3, kNan, -kInf, 1, kInf, 0, -0.0, 5, -1, 0});
  const Expected e = sort_rows(x);
  EXPECT_EQ(Values(e.value.begin(), e.value.begin() + 4), (Values{-kInf, 1, 3, kInf}));
  EXPECT_TRUE(std::isnan(e.value[4]));
  EXPECT_EQ(Values(e.value.begin() + 5, e.value.end()), (Values{-1, 0, 0, 0, 5}));
  EXPECT_FALSE(std::signbit(e.value[6]));
  EXPECT_TRUE(std::signbit(e.value[7]));
  // Equal elements of a long row keep their order: zeros of both signs between larger values.
  Values zeros;
  for (int i = 0; i < 300; ++i) zeros.push_back(i % 3 == 0 ? 1 : i % 2 == 0 ? -0.0 : 0.0);
  const Expected long_row = sort_rows(tensor(DType::F32, {1, 300}, zeros));
  std::erase(zeros, 1);
  for (std::size_t i = 0; i < zeros.size(); ++i)
    EXPECT_EQ(std::signbit(long_row.value[i]), std::signbit(zeros[i])) << i;
  // A result that is in order but no permutation of the input fails.
  EXPECT_FALSE(compare(sort_rows(vec({3, 1, 2})), vec({0, 0, 0})).passed());
  EXPECT_FALSE(compare(sort_rows(vec({3, 1, 2})), vec({1, 2, 2})).passed());
}

}  // namespace
}  // namespace mt::oracle
