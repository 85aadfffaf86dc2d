#include "mt/oracle/norms.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mt/base/error.h"
#include "mt/oracle/compare.h"
#include "mt/oracle/testing.h"

namespace mt::oracle {
namespace {

struct NormOptions {
  Order order = Order::Lanes;
  std::int64_t dropped = -1;     // an element that the statistics leave out
  std::int64_t weight_step = 0;  // shift of the weights
  bool one_pass = false;         // variance as E[x^2] - mean^2
};

HostTensor f32_norm(const HostTensor& x, const HostTensor& w, const HostTensor* b, float eps,
                    const NormOptions& o = {}) {
  const std::int64_t n = x.shape.back();
  HostTensor out("out", x.dtype, x.shape);
  for (std::int64_t row = 0; row < x.count() / n; ++row) {
    const auto at = [&](std::int64_t i) { return static_cast<float>(x.at(row * n + i)); };
    const auto kept = [&](std::int64_t i, float v) { return i == o.dropped ? 0.f : v; };
    const auto total = static_cast<float>(n);
    const float mean = b ? f32_sum(n, o.order, [&](std::int64_t i) { return kept(i, at(i)); }) / total : 0;
    const float centre = o.one_pass ? 0 : mean;
    float square =
        f32_sum(n, o.order, [&](std::int64_t i) { return kept(i, (at(i) - centre) * (at(i) - centre)); }) / total;
    if (o.one_pass) square -= mean * mean;
    const float scale = 1 / std::sqrt(square + eps);
    for (std::int64_t i = 0; i < n; ++i) {
      float y = (at(i) - mean) * scale * static_cast<float>(w.at((i + o.weight_step) % n));
      if (b) y += static_cast<float>(b->at(i));
      out.set(row * n + i, static_cast<double>(y));
    }
  }
  return out;
}

TEST(RmsNorm, HandComputed) {
  const Expected e = rms_norm(tensor(DType::F32, {2, 2}, {3, 4, 0, 0}), vec({1, 2}), 12.5 * 3);
  EXPECT_NEAR(e.value[0], 3 / std::sqrt(50.0), 1e-15);
  EXPECT_NEAR(e.value[1], 8 / std::sqrt(50.0), 1e-15);
  EXPECT_EQ(e.value[2], 0);
  EXPECT_THROW(rms_norm(tensor(DType::F32, {2, 2}, {}), vec({1}), 0), Error);
}

TEST(RmsNorm, AcceptsF32InSeveralOrders) {
  for (const DType dtype : kFloats)
    for (const std::int64_t n : {1, 2, 31, 33, 129, 1000, 4096})
      for (const Order order : kOrders) {
        const HostTensor x = random_normal(dtype, {20, n}, 5), w = random_normal(dtype, {n}, 6, 1, 0.3);
        const CompareResult r = compare(rms_norm(x, w, 1e-5f), f32_norm(x, w, nullptr, 1e-5f, {.order = order}));
        EXPECT_TRUE(r.passed()) << n << ' ' << r.sentence;
      }
}

TEST(RmsNorm, RejectsADroppedElementAWrongEpsilonAndShiftedWeights) {
  const HostTensor x = random_normal(DType::F32, {4, 4096}, 5, 0, 0.01),
                   w = random_normal(DType::F32, {4096}, 6, 1, 0.3);
  const Expected e = rms_norm(x, w, 1e-5f);
  EXPECT_GT(compare(e, f32_norm(x, w, nullptr, 1e-5f, {.dropped = 4000})).wrong, 4096);
  EXPECT_GT(compare(e, f32_norm(x, w, nullptr, 1e-6f)).wrong, 4 * 4000);
  EXPECT_GT(compare(e, f32_norm(x, w, nullptr, 1e-5f, {.weight_step = 1})).wrong, 4 * 4000);
}

TEST(LayerNorm, HandComputed) {
  const Expected e = layer_norm(tensor(DType::F32, {1, 4}, {1, 2, 3, 6}), vec({1, 1, 1, 2}), vec({0, 0, 10, 0}), 0.5);
  const double s = 1 / std::sqrt(3.5 + 0.5);
  EXPECT_NEAR(e.value[0], -2 * s, 1e-15);
  EXPECT_NEAR(e.value[2], 10, 1e-15);
  EXPECT_NEAR(e.value[3], 6 * s, 1e-15);
}

TEST(LayerNorm, AcceptsF32InSeveralOrders) {
  for (const DType dtype : kFloats)
    for (const std::int64_t n : {2, 31, 33, 129, 1000, 4096})
      for (const Order order : kOrders) {
        const HostTensor x = random_normal(dtype, {20, n}, 5, 3, 2), w = random_normal(dtype, {n}, 6, 1, 0.3);
        const HostTensor b = random_normal(dtype, {n}, 8);
        const CompareResult r = compare(layer_norm(x, w, b, 1e-5f), f32_norm(x, w, &b, 1e-5f, {.order = order}));
        EXPECT_TRUE(r.passed()) << n << ' ' << r.sentence;
      }
}

TEST(LayerNorm, RejectsADroppedElementAWrongEpsilonAndACancellingVariance) {
  const HostTensor x = random_normal(DType::F32, {4, 1024}, 5, 0, 0.01),
                   w = random_normal(DType::F32, {1024}, 6, 1, 0.3);
  const HostTensor b = random_normal(DType::F32, {1024}, 8);
  const Expected e = layer_norm(x, w, b, 1e-5f);
  EXPECT_GT(compare(e, f32_norm(x, w, &b, 1e-5f, {.dropped = 1000})).wrong, 1024);
  EXPECT_GT(compare(e, f32_norm(x, w, &b, 1e-6f)).wrong, 4000);
  const HostTensor far = random_normal(DType::F32, {4, 1024}, 5, 300, 1);
  EXPECT_GT(compare(layer_norm(far, w, b, 1e-5f), f32_norm(far, w, &b, 1e-5f, {.one_pass = true})).wrong, 1024);
  EXPECT_TRUE(compare(layer_norm(far, w, b, 1e-5f), f32_norm(far, w, &b, 1e-5f)).passed());
}

}  // namespace
}  // namespace mt::oracle
