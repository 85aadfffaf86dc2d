#include "mt/oracle/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mt/oracle/compare.h"
#include "mt/oracle/testing.h"

namespace mt::oracle {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

enum class Fault { None, LostRescale, DroppedElement, NoLogE };
struct Output {
  HostTensor probabilities, lse;
};

/// Running maximum and sum in each of 32 lanes, then merged: the way a kernel does it.
Output f32_softmax(const HostTensor& x, Fault fault = Fault::None) {
  const std::int64_t n = x.shape.back(), rows = x.count() / n;
  Output out{HostTensor("p", x.dtype, x.shape), HostTensor("lse", x.dtype, {rows})};
  const auto ex = [&](float v) { return fault == Fault::NoLogE ? std::exp2(v) : std::exp2(v * 1.44269504f); };
  for (std::int64_t row = 0; row < rows; ++row) {
    float top[32], sum[32] = {}, all = -INFINITY, total = 0;
    std::fill(top, top + 32, -INFINITY);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto v = static_cast<float>(x.at(row * n + i));
      const auto lane = i % 32;
      const float next = std::fmax(top[lane], v);
      if (fault == Fault::DroppedElement && i == n / 2) continue;
      sum[lane] = (next == -INFINITY ? 0 : sum[lane] * ex(top[lane] - next) + ex(v - next));
      top[lane] = next;
    }
    for (const float t : top) all = std::fmax(all, t);
    for (int lane = 0; lane < 32; ++lane)
      if (sum[lane] > 0) total += sum[lane] * (fault == Fault::LostRescale ? 1 : ex(top[lane] - all));
    for (std::int64_t i = 0; i < n; ++i)
      out.probabilities.set(row * n + i, static_cast<double>(ex(static_cast<float>(x.at(row * n + i)) - all) / total));
    out.lse.set(row, static_cast<double>(all + std::log(total)));
  }
  return out;
}

TEST(Softmax, HandComputed) {
  const HostTensor x = tensor(DType::F32, {2, 3}, {0, std::log(2.0), std::log(5.0), 1000, 1000, -kInf});
  const Expected p = softmax(x), l = logsumexp(x);
  EXPECT_NEAR(p.value[0], 0.125, 1e-7);
  EXPECT_NEAR(p.value[1], 0.25, 1e-7);
  EXPECT_NEAR(p.value[2], 0.625, 1e-7);
  EXPECT_EQ(p.value[3], 0.5);
  EXPECT_EQ(p.value[5], 0);
  EXPECT_EQ(p.bound[5], 0);
  EXPECT_NEAR(l.value[0], std::log(8.0), 1e-7);
  EXPECT_NEAR(l.value[1], 1000 + std::log(2.0), 1e-12);
}

TEST(Softmax, RowsWithoutASoftmax) {
  for (const double bad : {kInf, std::nan("")}) {
    const Expected p = softmax(tensor(DType::F32, {1, 3}, {1, bad, 2}));
    for (const double v : p.value) EXPECT_TRUE(std::isnan(v));
  }
  for (const double v : softmax(tensor(DType::F32, {1, 2}, {-kInf, -kInf})).value) EXPECT_TRUE(std::isnan(v));
  EXPECT_EQ(logsumexp(tensor(DType::F32, {1, 2}, {-kInf, -kInf})).value[0], -kInf);
  EXPECT_EQ(logsumexp(HostTensor("none", DType::F32, {1, 0})).value[0], -kInf);
  EXPECT_EQ(logsumexp(vec({1, kInf, -kInf})).value[0], kInf);
  EXPECT_TRUE(std::isnan(logsumexp(vec({1, std::nan(""), kInf})).value[0]));
}

TEST(Softmax, AcceptsAnOnlineF32Computation) {
  for (const DType dtype : kFloats)
    for (const std::int64_t n : {1, 2, 31, 33, 127, 1000, 4096})
      for (const double deviation : {0.1, 2.0, 20.0}) {
        const HostTensor x = random_normal(dtype, {20, n}, 3, 1, deviation);
        const Output out = f32_softmax(x);
        EXPECT_TRUE(compare(softmax(x), out.probabilities).passed()) << compare(softmax(x), out.probabilities).sentence;
        EXPECT_TRUE(compare(logsumexp(x), out.lse).passed()) << compare(logsumexp(x), out.lse).sentence;
      }
}

TEST(Softmax, RejectsFaults) {
  const HostTensor x = random_normal(DType::F32, {20, 1000}, 3, 0, 2);
  for (const Fault fault : {Fault::LostRescale, Fault::DroppedElement, Fault::NoLogE}) {
    const Output out = f32_softmax(x, fault);
    EXPECT_GT(compare(softmax(x), out.probabilities).wrong, 15000) << static_cast<int>(fault);
    EXPECT_GE(compare(logsumexp(x), out.lse).wrong, 15) << static_cast<int>(fault);
  }
  EXPECT_GT(compare(softmax(x), tensor(DType::F32, {20, 1000}, std::vector<double>(20000, 0.001))).wrong, 19900);
}

}  // namespace
}  // namespace mt::oracle
