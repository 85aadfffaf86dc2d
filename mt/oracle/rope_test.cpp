#include "mt/oracle/rope.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mt/base/error.h"
#include "mt/oracle/compare.h"
#include "mt/oracle/testing.h"

namespace mt::oracle {
namespace {

enum class Fault { None, NextPosition, Interleaved, WrongSign };

HostTensor f32_rope(const HostTensor& x, const RopeShape& s, float log2_base, Fault fault = Fault::None) {
  HostTensor out("out", x.dtype, x.shape);
  const std::int64_t half = s.dim / 2;
  for (std::int64_t h = 0; h < s.heads; ++h)
    for (std::int64_t t = 0; t < s.seq; ++t)
      for (std::int64_t p = 0; p < half; ++p) {
        const std::int64_t base = h * s.head_stride + t * s.seq_stride;
        const std::int64_t i = base + (fault == Fault::Interleaved ? 2 * p : p),
                           j = fault == Fault::Interleaved ? i + 1 : i + half;
        const float inv = std::exp2(-(static_cast<float>(p) / static_cast<float>(half)) * log2_base);
        const float angle = static_cast<float>(s.first_position + t + (fault == Fault::NextPosition)) * inv;
        const float c = std::cos(angle), sn = std::sin(angle) * (fault == Fault::WrongSign ? -1.f : 1.f);
        const auto a = static_cast<float>(x.at(i)), b = static_cast<float>(x.at(j));
        out.set(i, static_cast<double>(a * c - b * sn));
        out.set(j, static_cast<double>(a * sn + b * c));
      }
  return out;
}

TEST(Rope, HandComputed) {
  // dim 4, base 2^2: pairs (0, 2) with frequency 1 and (1, 3) with frequency 1/2, at position 3.
  const Expected e = rope(vec({1, 2, 3, 4}), {1, 1, 4, 4, 4, 3}, 2);
  EXPECT_NEAR(e.value[0], std::cos(3.0) - 3 * std::sin(3.0), 1e-14);
  EXPECT_NEAR(e.value[2], std::sin(3.0) + 3 * std::cos(3.0), 1e-14);
  EXPECT_NEAR(e.value[1], 2 * std::cos(1.5) - 4 * std::sin(1.5), 1e-14);
  EXPECT_NEAR(e.value[3], 2 * std::sin(1.5) + 4 * std::cos(1.5), 1e-14);
  EXPECT_THROW(rope(vec({1, 2, 3}), {1, 1, 4, 4, 4}, 2), Error);
  EXPECT_THROW(rope(vec({1, 2, 3, 4}), {2, 1, 2, 4, 2}, 2), Error);
}

TEST(Rope, AcceptsF32AndRejectsFaultsInBothLayouts) {
  const float log2_base = std::log2(10000.f);
  for (const DType dtype : kFloats)
    for (const bool heads_outside : {true, false}) {
      const std::int64_t H = 4, L = 50, D = 64;
      const RopeShape s{H, L, D, heads_outside ? L * D : D, heads_outside ? D : H * D, 1000};
      const HostTensor x = random_normal(dtype, {H * L * D}, 2);
      const Expected e = rope(x, s, static_cast<double>(log2_base));
      EXPECT_TRUE(compare(e, f32_rope(x, s, log2_base)).passed()) << compare(e, f32_rope(x, s, log2_base)).sentence;
      for (const Fault fault : {Fault::NextPosition, Fault::Interleaved, Fault::WrongSign})
        EXPECT_GT(compare(e, f32_rope(x, s, log2_base, fault)).wrong, x.count() / 5) << static_cast<int>(fault);
    }
}

HostTensor f32_llama(const HostTensor& x, std::int64_t dim, float position, const LlamaRope& k, bool scale) {
  HostTensor out("out", x.dtype, x.shape);
  const std::int64_t half = dim / 2;
  for (std::int64_t h = 0; h < x.count() / dim; ++h)
    for (std::int64_t p = 0; p < half; ++p) {
      float inv =
          std::exp2(-static_cast<float>(p) * std::log2(static_cast<float>(k.theta_base)) / static_cast<float>(half));
      const float wave = 6.2831853f / inv, original = static_cast<float>(k.original_max_position);
      const auto low = static_cast<float>(k.low_freq_factor), high = static_cast<float>(k.high_freq_factor);
      const auto factor = static_cast<float>(k.scale_factor);
      if (scale && wave > original / low) {
        inv /= factor;
      } else if (scale && wave >= original / high) {
        const float blend = (original / wave - low) / (high - low);
        inv = (1 - blend) * inv / factor + blend * inv;
      }
      const float angle = position * inv, c = std::cos(angle), s = std::sin(angle);
      const auto a = static_cast<float>(x.at(h * dim + p)), b = static_cast<float>(x.at(h * dim + p + half));
      out.set(h * dim + p, static_cast<double>(a * c - b * s));
      out.set(h * dim + p + half, static_cast<double>(a * s + b * c));
    }
  return out;
}

TEST(RopeLlama, AcceptsF32AndSeesMissingScalingAndTheWrongPosition) {
  const LlamaRope k{500000, 8, 1, 4, 8192};
  for (const DType dtype : kFloats)
    for (const std::int64_t position : {0, 1, 17, 5000}) {
      const HostTensor x = random_normal(dtype, {8, 128}, 2);
      const Expected e = rope_llama(x, 128, position, k);
      const auto at = static_cast<float>(position);
      EXPECT_TRUE(compare(e, f32_llama(x, 128, at, k, true)).passed())
          << compare(e, f32_llama(x, 128, at, k, true)).sentence;
      EXPECT_GT(compare(e, f32_llama(x, 128, at + 1, k, true)).wrong, 100) << position;
      if (position == 5000) {
        EXPECT_GT(compare(e, f32_llama(x, 128, at, k, false)).wrong, 200);
      }
    }
}

TEST(RopeLlama, FrequenciesOfTheThreeBands) {
  // One pair a band: with x = (1, 0) the pair becomes (cos a, sin a).
  const LlamaRope k{1e6, 8, 1, 4, 8192};
  const Expected e = rope_llama(tensor(DType::F32, {1, 8}, {1, 1, 1, 1, 0, 0, 0, 0}), 8, 1, k);
  const double f1 = std::pow(1e6, -0.25), f2 = std::pow(1e6, -0.5), f3 = std::pow(1e6, -0.75);
  const double blend = (8192 * f2 / (2 * M_PI) - 1) / 3;
  EXPECT_NEAR(e.value[4], std::sin(1.0), 1e-15);
  EXPECT_NEAR(e.value[5], std::sin(f1), 1e-15);
  EXPECT_NEAR(e.value[6], std::sin(f2 * ((1 - blend) / 8 + blend)), 1e-15);
  EXPECT_NEAR(e.value[7], std::sin(f3 / 8), 1e-15);
  const Expected plain = rope_llama(vec({1, 0}), 2, 3, {});
  EXPECT_NEAR(plain.value[0], std::cos(3.0), 1e-15);
}

}  // namespace
}  // namespace mt::oracle
