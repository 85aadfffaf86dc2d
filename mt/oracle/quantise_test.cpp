#include "mt/oracle/quantise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "mt/base/error.h"
#include "mt/oracle/codes.h"
#include "mt/oracle/compare.h"
#include "mt/oracle/testing.h"

namespace mt::oracle {
namespace {

TEST(Codes, PackingIsAStreamFromTheLowEnd) {
  EXPECT_EQ(pack_codes({1, 2, 3, 4, 5, 6, 7, 8}, 4, 8).int_at(0), 0x87654321);
  EXPECT_EQ(pack_codes({0x11, 0x22, 0x33, 0x44}, 8, 4).int_at(0), 0x44332211);
  EXPECT_EQ(pack_codes({1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}, 2, 16).int_at(0), 0x80000001);
  // Code 10 of a 3-bit row is bits 30 … 32: it straddles the first two words.
  std::vector<std::uint32_t> codes(32, 0);
  codes[10] = 7;
  const HostTensor words = pack_codes(codes, 3, 32);
  EXPECT_EQ(words.count(), 3);
  EXPECT_EQ(words.int_at(0), 0xc0000000);
  EXPECT_EQ(words.int_at(1), 1);
  // Eight 5-bit codes take 5 bytes.
  const HostTensor five = pack_codes({1, 2, 3, 4, 5, 6, 7, 8}, 5, 8);
  const unsigned char bytes[] = {0x41, 0x0c, 0x52, 0xcc, 0x41};
  EXPECT_EQ(std::memcmp(five.data.data(), bytes, 5), 0);
}

TEST(Codes, RoundTripForEveryWidthWithPaddedRows) {
  for (int bits = 1; bits <= 8; ++bits) {
    std::vector<std::uint32_t> codes;
    for (std::uint32_t i = 0; i < 3 * 37; ++i) codes.push_back(i * 2654435761u >> (32 - bits));
    EXPECT_EQ(unpack_codes(pack_codes(codes, bits, 37), bits, 37), codes);
  }
  EXPECT_THROW(pack_codes({4}, 2, 1), Error);
  EXPECT_THROW(pack_codes({1, 2, 3}, 2, 2), Error);
}

struct Packed {
  HostTensor words, scales, biases;
};

/// The quantiser in f32; `half` is what it adds before truncation.
Packed f32_quantise(const HostTensor& x, int bits, std::int64_t group, float half = 0.5f, bool stored_scale = false) {
  const std::int64_t n = x.shape.back(), rows = x.count() / n, groups = n / group;
  Packed out{{}, HostTensor("scales", x.dtype, {rows, groups}), HostTensor("biases", x.dtype, {rows, groups})};
  std::vector<std::uint32_t> codes(static_cast<std::size_t>(x.count()));
  const float top = static_cast<float>((1 << bits) - 1);
  for (std::int64_t g = 0; g < rows * groups; ++g) {
    float lo = INFINITY, hi = -INFINITY;
    for (std::int64_t i = 0; i < group; ++i) {
      lo = std::fmin(lo, static_cast<float>(x.at(g * group + i)));
      hi = std::fmax(hi, static_cast<float>(x.at(g * group + i)));
    }
    float scale = (hi - lo) / top;
    if (scale < 1e-7f) scale = 1;
    out.scales.set(g, static_cast<double>(scale));
    out.biases.set(g, static_cast<double>(lo));
    if (stored_scale) scale = static_cast<float>(out.scales.at(g));
    for (std::int64_t i = 0; i < group; ++i) {
      const float position = (static_cast<float>(x.at(g * group + i)) - lo) / scale + half;
      codes[static_cast<std::size_t>(g * group + i)] =
          static_cast<std::uint32_t>(std::fmin(top, std::fmax(0.f, position)));
    }
  }
  out.words = pack_codes(codes, bits, n);
  return out;
}

TEST(AffineQuantise, HandComputed) {
  const QuantisedExpected e = affine_quantise(tensor(DType::F32, {1, 4}, {-1, 0, 0.4, 5}), 2, 4);
  EXPECT_EQ(e.scales.value[0], 2);
  EXPECT_EQ(e.biases.value[0], -1);
  EXPECT_EQ(e.words.value, (std::vector<double>{0, 1, 1, 3}));
  EXPECT_EQ(e.words.low[1], 0);  // (0 + 1) / 2 + 1/2 is a tie
  EXPECT_EQ(e.words.high[1], 1);
  EXPECT_EQ(e.words.low[2], 1);
  // A constant group keeps its value: scale 1, code 0.
  const QuantisedExpected flat = affine_quantise(tensor(DType::F32, {1, 4}, {-9, -9, -9, -9}), 4, 4);
  EXPECT_EQ(flat.scales.value[0], 1);
  EXPECT_EQ(flat.biases.value[0], -9);
  EXPECT_EQ(flat.words.value, (std::vector<double>(4, 0)));
  EXPECT_THROW(affine_quantise(vec({1, std::nan("")}), 4, 2), Error);
  EXPECT_THROW(affine_quantise(vec({1, 2}), 9, 2), Error);
}

TEST(AffineQuantise, AcceptsF32AndRejectsAnotherRounding) {
  for (const DType dtype : kFloats)
    for (const int bits : {2, 3, 4, 5, 6, 8})
      for (const std::int64_t group : {32, 64, 128}) {
        const HostTensor x = random_normal(dtype, {8, 512}, static_cast<unsigned>(bits), 0.3, 2);
        const QuantisedExpected e = affine_quantise(x, bits, group);
        const Packed p = f32_quantise(x, bits, group), truncated = f32_quantise(x, bits, group, 0);
        EXPECT_TRUE(compare(e.words, p.words).passed()) << compare(e.words, p.words).sentence;
        EXPECT_TRUE(compare(e.scales, p.scales).passed()) << compare(e.scales, p.scales).sentence;
        EXPECT_TRUE(compare(e.biases, p.biases).passed());
        EXPECT_GT(compare(e.words, truncated.words).wrong, 1000);
        EXPECT_GT(compare(affine_quantise(x, bits, group).words, f32_quantise(x, bits, 512).words).wrong, 400);
        if (dtype == DType::BF16 && bits == 8) {
          EXPECT_GT(compare(e.words, f32_quantise(x, bits, group, 0.5f, true).words).wrong, 400);
        }
      }
}

TEST(AffineDequantise, AcceptsF32AndRejectsAShiftedGroup) {
  for (const DType dtype : kFloats)
    for (const int bits : {2, 3, 4, 5, 6, 8}) {
      const Packed p = f32_quantise(random_normal(dtype, {4, 256}, 3), bits, 32);
      const Expected e = affine_dequantise(p.words, p.scales, p.biases, bits, 32, 256);
      HostTensor out("out", dtype, {4, 256}), fused = out, shifted = out;
      for (std::int64_t i = 0; i < 1024; ++i) {
        const auto q = static_cast<float>(code_in(p.words, i, bits, 256));
        const auto s = static_cast<float>(p.scales.at(i / 32)), b = static_cast<float>(p.biases.at(i / 32));
        out.set(i, static_cast<double>(s * q + b));
        fused.set(i, static_cast<double>(std::fma(s, q, b)));
        shifted.set(i, static_cast<double>(static_cast<float>(p.scales.at((i / 32 + 1) % 32)) * q + b));
      }
      EXPECT_TRUE(compare(e, out).passed()) << compare(e, out).sentence;
      EXPECT_TRUE(compare(e, fused).passed()) << compare(e, fused).sentence;
      EXPECT_GT(compare(e, shifted).wrong, 400);
    }
  const Packed p = f32_quantise(random_normal(DType::F32, {4, 256}, 3), 4, 32);
  EXPECT_THROW(affine_dequantise(p.words, p.scales, p.biases, 4, 64, 256), Error);
  EXPECT_THROW(affine_dequantise(p.words, p.scales, p.biases, 4, 32, 300), Error);
}

TEST(QuantisedMatmul, HandComputed) {
  // Codes 1 2 | 3 0 in groups of two, scales 2 and 10, biases -1 and 0.5.
  const HostTensor words = pack_codes({1, 2, 3, 0}, 4, 4);
  const Expected e = quantised_matmul(tensor(DType::F32, {2, 4}, {1, 1, 1, 1, 0, 1, 0, -2}), words,
                                      tensor(DType::F32, {1, 2}, {2, 10}), tensor(DType::F32, {1, 2}, {-1, 0.5}), 4, 2);
  EXPECT_EQ(e.value, (std::vector<double>{1 + 3 + 30.5 + 0.5, 3 - 1}));
}

TEST(QuantisedMatmul, IsNotSpecifiedWhereSumsMayOverflow) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const HostTensor words = pack_codes({1, 2, 3, 0, 1, 2, 3, 0}, 4, 4);
  const HostTensor x =
      tensor(DType::F32, {5, 4}, {1, 1, 1, 1, 1, 1e38, 1, 1, 1, 1, inf, 1, nan, inf, 1, 1, 1, 1, 1, 1e36});
  const Expected e = quantised_matmul(x, words, tensor(DType::F32, {2, 2}, {2, 10, 2, inf}),
                                      tensor(DType::F32, {2, 2}, {-1, 0.5, -1, 0.5}), 4, 2);
  EXPECT_EQ(e.unspecified, (std::vector<bool>{false, true, true, true, true, true, false, false, false, true}));
  EXPECT_EQ(e.value[0], 1 + 3 + 30.5 + 0.5);
  EXPECT_TRUE(std::isnan(e.value[6]) && std::isnan(e.value[7]));
  EXPECT_TRUE(quantised_matmul(random_normal(DType::F32, {2, 4}, 1), words, tensor(DType::F32, {2, 2}, {2, 10, 2, 1}),
                               tensor(DType::F32, {2, 2}, {-1, 0.5, -1, 0.5}), 4, 2)
                  .unspecified.empty());
}

TEST(QuantisedMatmul, RoundedWeightsWidenTheBoundAndMayNotOverflow) {
  const HostTensor words = pack_codes({1, 2, 3, 0, 1, 2, 3, 0}, 4, 4);
  const HostTensor x = tensor(DType::F32, {1, 4}, {1, 1, 1, 1});
  const HostTensor scales = tensor(DType::F32, {2, 2}, {2, 10, 2, 30000}),
                   biases = tensor(DType::F32, {2, 2}, {0, 0, 0, 0});
  const OperandRounding f16{.relative = 0x1p-11, .floor = 0x1p-25, .largest = 65504};
  const Expected exact = quantised_matmul(x, words, scales, biases, 4, 2);
  const Expected rounded = quantised_matmul(x, words, scales, biases, 4, 2, f16);
  EXPECT_TRUE(exact.unspecified.empty());
  EXPECT_EQ(rounded.unspecified, (std::vector<bool>{false, true}));
  EXPECT_EQ(rounded.value, exact.value);
  EXPECT_DOUBLE_EQ(rounded.bound[0] - exact.bound[0], 36 * 0x1p-11 + 4 * 0x1p-25);
}

enum class Fault { None, DroppedWord, NoBias, ScaleOfNextGroup, HalfOfK, Doubled };

HostTensor f32_qmm(const HostTensor& x, const Packed& w, int bits, std::int64_t group, bool split, Order order,
                   Fault fault = Fault::None) {
  const std::int64_t K = x.shape.back(), M = x.count() / K, N = w.words.shape[0], groups = K / group;
  HostTensor out("y", x.dtype, {M, N});
  for (std::int64_t m = 0; m < M; ++m)
    for (std::int64_t n = 0; n < N; ++n) {
      const auto code = [&](std::int64_t k) { return static_cast<float>(code_in(w.words, n * K + k, bits, K)); };
      const auto in = [&](std::int64_t k) { return static_cast<float>(x.at(m * K + k)); };
      const auto scale = [&](std::int64_t g) {
        return static_cast<float>(w.scales.at(n * groups + (g + (fault == Fault::ScaleOfNextGroup)) % groups));
      };
      const auto bias = [&](std::int64_t g) {
        return fault == Fault::NoBias ? 0 : static_cast<float>(w.biases.at(n * groups + g));
      };
      float y;
      if (split) {
        y = f32_sum(groups, order, [&](std::int64_t g) {
          float dot = 0, sum = 0;
          for (std::int64_t k = g * group; k < (g + 1) * group; ++k) {
            dot += code(k) * in(k);
            sum += in(k);
          }
          return scale(g) * dot + bias(g) * sum;
        });
      } else {
        y = f32_sum(fault == Fault::HalfOfK ? K / 2 : K, order, [&](std::int64_t k) {
          if (fault == Fault::DroppedWord && k / 8 == K / 16) return 0.f;
          return (scale(k / group) * code(k) + bias(k / group)) * in(k);
        });
      }
      out.set(m * N + n, static_cast<double>(fault == Fault::Doubled ? 2 * y : y));
    }
  return out;
}

TEST(QuantisedMatmul, AcceptsBothFormsInF32AndRejectsFaults) {
  for (const DType dtype : kFloats)
    for (const int bits : {3, 4, 8}) {
      const HostTensor x = random_normal(dtype, {3, 1024}, 1);
      const Packed w = f32_quantise(random_normal(dtype, {24, 1024}, 2), bits, 64);
      const Expected e = quantised_matmul(x, w.words, w.scales, w.biases, bits, 64);
      for (const Order order : kOrders)
        for (const bool split : {false, true}) {
          const CompareResult r = compare(e, f32_qmm(x, w, bits, 64, split, order));
          EXPECT_TRUE(r.passed()) << split << ' ' << r.sentence;
        }
      for (const Fault fault :
           {Fault::DroppedWord, Fault::NoBias, Fault::ScaleOfNextGroup, Fault::HalfOfK, Fault::Doubled})
        EXPECT_GT(compare(e, f32_qmm(x, w, bits, 64, false, Order::Lanes, fault)).wrong, 60) << static_cast<int>(fault);
    }
}

}  // namespace
}  // namespace mt::oracle
