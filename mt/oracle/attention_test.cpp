#include "mt/oracle/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mt/base/error.h"
#include "mt/oracle/compare.h"
#include "mt/oracle/testing.h"

namespace mt::oracle {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Attention, HandComputed) {
  // Two keys with logits 0 and log 3 (scale 1/2 on a dot product of 2 log 3), values (4, 0) and (0, 8).
  const double l = std::log(3.0f);
  const HostTensor q = vec({1, 1}), k = vec({1, -1, l, l}), v = vec({4, 0, 0, 8});
  Attention a{.head_dim = 2, .n_kv = 2, .scale = 0.5};
  const AttentionExpected e = attention(q, k, v, a);
  EXPECT_NEAR(e.output.value[0], 1, 1e-6);
  EXPECT_NEAR(e.output.value[1], 6, 1e-6);
  EXPECT_NEAR(e.lse.value[0], std::log(4.0), 1e-6);
  a.sink_logits = {std::log(4.0)};
  const AttentionExpected sunk = attention(q, k, v, a);
  EXPECT_NEAR(sunk.output.value[0], 0.5, 1e-6);
  EXPECT_NEAR(sunk.output.value[1], 3, 1e-6);
  EXPECT_NEAR(sunk.lse.value[0], std::log(8.0), 1e-6);
}

TEST(Attention, NoVisibleKeyGivesZeroAndMinusInfinity) {
  const HostTensor q = vec({1, 2}), none("none", DType::F32, {1, 0, 2});
  Attention a{.head_dim = 2};
  AttentionExpected e = attention(q, none, none, a);
  EXPECT_EQ(e.output.value, (std::vector<double>{0, 0}));
  EXPECT_EQ(e.output.bound, (std::vector<double>{0, 0}));
  EXPECT_EQ(e.lse.value[0], -kInf);
  a.sink_logits = {2.5};
  e = attention(q, none, none, a);
  EXPECT_EQ(e.output.value, (std::vector<double>{0, 0}));
  EXPECT_EQ(e.lse.value[0], 2.5);
  // A window that starts behind the last key hides all of them.
  const HostTensor one = vec({3, 4});
  EXPECT_EQ(attention(q, one, one, {.head_dim = 2, .n_kv = 1, .window_start = 5}).lse.value[0], -kInf);
}

TEST(Attention, HiddenRowsAreNotReadAndVisibleNanIsSeen) {
  HostTensor q = random_normal(DType::F32, {2, 8}, 1), k = random_normal(DType::F32, {1, 6, 8}, 2),
             v = random_normal(DType::F32, {1, 6, 8}, 3);
  const Attention a{.heads = 2, .head_dim = 8, .n_kv = 5, .kv_stride = 6, .sink_end = 1, .window_start = 3};
  const AttentionExpected clean = attention(q, k, v, a);
  for (const std::int64_t row : {1, 2, 5})
    for (std::int64_t d = 0; d < 8; ++d) {
      k.set(row * 8 + d, std::nan(""));
      v.set(row * 8 + d, kInf);
    }
  EXPECT_EQ(attention(q, k, v, a).output.value, clean.output.value);
  k.set(4 * 8, std::nan(""));
  for (const double o : attention(q, k, v, a).output.value) EXPECT_TRUE(std::isnan(o));
}

TEST(Attention, RefusesProblemsWithoutMeaning) {
  const HostTensor q = random_normal(DType::F32, {3, 8}, 1), k = random_normal(DType::F32, {2, 4, 8}, 2);
  EXPECT_THROW(attention(q, k, k, {.heads = 3, .kv_heads = 2, .head_dim = 8, .n_kv = 4}), Error);
  EXPECT_THROW(attention(q, k, k, {.heads = 3, .kv_heads = 1, .head_dim = 8, .n_kv = 4}), Error);
  EXPECT_THROW(attention(q, k, k, {.heads = 3, .kv_heads = 1, .head_dim = 8, .n_kv = 9, .kv_stride = 8}), Error);
  EXPECT_THROW(attention(q, k, k, {.heads = 3, .kv_heads = 1, .head_dim = 8, .n_kv = 8, .sink_logits = {1, 2}}), Error);
}

TEST(Attention, CausalQueriesAreTheLastOfTheSequence) {
  const HostTensor q = random_normal(DType::F32, {3, 8}, 1), k = random_normal(DType::F32, {1, 5, 8}, 2),
                   v = random_normal(DType::F32, {1, 5, 8}, 3);
  const AttentionExpected all = attention(q, k, v, {.queries = 3, .head_dim = 8, .n_kv = 5, .causal = true});
  for (std::int64_t i = 0; i < 3; ++i) {
    HostTensor one("q", DType::F32, {1, 8});
    for (std::int64_t d = 0; d < 8; ++d) one.set(d, q.at(i * 8 + d));
    const AttentionExpected alone = attention(one, k, v, {.head_dim = 8, .n_kv = 3 + i, .kv_stride = 5});
    for (std::int64_t d = 0; d < 8; ++d)
      EXPECT_DOUBLE_EQ(all.output.value[static_cast<std::size_t>(i * 8 + d)],
                       alone.output.value[static_cast<std::size_t>(d)]);
  }
  // More queries than keys: the first see nothing.
  const AttentionExpected few =
      attention(q, k, v, {.queries = 3, .head_dim = 8, .n_kv = 1, .kv_stride = 5, .causal = true});
  EXPECT_EQ(few.lse.value[1], -kInf);
  EXPECT_NE(few.lse.value[2], -kInf);
}

/// The rows `rows` of t, each `length` elements.
HostTensor rows_of(const HostTensor& t, const std::vector<std::int64_t>& rows, std::int64_t length) {
  HostTensor some(t.name, t.dtype, {static_cast<std::int64_t>(rows.size()), length});
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::int64_t d = 0; d < length; ++d)
      some.set(static_cast<std::int64_t>(i) * length + d, t.at(rows[i] * length + d));
  return some;
}

TEST(Attention, AWindowShowsTheLastKeysOfEachQueryAndTheFirstOnes) {
  const HostTensor q = random_normal(DType::F32, {3, 8}, 1), k = random_normal(DType::F32, {1, 9, 8}, 2),
                   v = random_normal(DType::F32, {1, 9, 8}, 3);
  const AttentionExpected all =
      attention(q, k, v, {.queries = 3, .head_dim = 8, .n_kv = 9, .sink_end = 2, .causal = true, .window = 4});
  // Query 0 is token 6, 1 is 7, 2 is 8.
  const std::vector<std::int64_t> seen[] = {{0, 1, 3, 4, 5, 6}, {0, 1, 4, 5, 6, 7}, {0, 1, 5, 6, 7, 8}};
  for (std::int64_t i = 0; i < 3; ++i) {
    const AttentionExpected alone =
        attention(rows_of(q, {i}, 8), rows_of(k, seen[i], 8), rows_of(v, seen[i], 8), {.head_dim = 8, .n_kv = 6});
    for (std::size_t d = 0; d < 8; ++d)
      EXPECT_DOUBLE_EQ(all.output.value[static_cast<std::size_t>(i) * 8 + d], alone.output.value[d]);
    EXPECT_DOUBLE_EQ(all.lse.value[static_cast<std::size_t>(i)], alone.lse.value[0]);
  }
  EXPECT_THROW(attention(q, k, v, {.queries = 3, .head_dim = 8, .n_kv = 9, .window = -1}), Error);
}

TEST(Attention, ABiasJoinsTheLogitsAndMinusInfinityHides) {
  // Logits 0 and 0; a bias of log 3 on the second: weights 1/4 and 3/4.
  const HostTensor q = vec({0, 0}), k = vec({1, -1, 2, 5}), v = vec({4, 0, 0, 8});
  Attention a{.head_dim = 2, .n_kv = 2, .scale = 0.5};
  a.bias = [](std::int64_t, std::int64_t, std::int64_t key) { return key == 0 ? 0 : std::log(3.0); };
  const AttentionExpected e = attention(q, k, v, a);
  EXPECT_NEAR(e.output.value[0], 1, 1e-12);
  EXPECT_NEAR(e.output.value[1], 6, 1e-12);
  EXPECT_NEAR(e.lse.value[0], std::log(4.0), 1e-12);
  a.bias = [](std::int64_t, std::int64_t, std::int64_t key) { return key == 0 ? -kInf : 0; };
  EXPECT_EQ(attention(q, k, v, a).output.value, (std::vector<double>{0, 8}));
  a.bias = [](std::int64_t, std::int64_t, std::int64_t) { return -kInf; };
  EXPECT_EQ(attention(q, k, v, a).output.value, (std::vector<double>{0, 0}));
  EXPECT_EQ(attention(q, k, v, a).lse.value[0], -kInf);
  // A large bias has a rounding of its own.
  a.bias = [](std::int64_t, std::int64_t, std::int64_t) { return 1000.0; };
  const double bound = attention(q, k, v, a).output.bound[0];
  a.bias = {};
  EXPECT_GT(bound, 20 * attention(q, k, v, a).output.bound[0]);
}

TEST(Attention, MasksAreTheSameAlongAxesOfOne) {
  // [batch, heads, queries, keys] of 2 items, 3 heads, 2 queries, 4 keys.
  HostTensor whole("mask", DType::F32, {2, 3, 2, 4});
  for (std::int64_t i = 0; i < whole.count(); ++i) whole.set(i, static_cast<double>(i));
  const auto each = bias_of(whole, 3);
  EXPECT_EQ(each(0, 0, 3), 3);
  EXPECT_EQ(each(2, 1, 0), 20);
  EXPECT_EQ(each(4, 1, 2), 24 + 8 + 4 + 2);
  HostTensor heads("mask", DType::F32, {1, 3, 1, 4});
  for (std::int64_t i = 0; i < heads.count(); ++i) heads.set(i, static_cast<double>(i));
  const auto shared = bias_of(heads, 3);
  EXPECT_EQ(shared(1, 1, 2), 6);
  EXPECT_EQ(shared(4, 0, 2), 6);
  HostTensor flags("mask", DType::U8, {1, 1, 1, 3});
  flags.set(1, 1);
  flags.set(2, 2);
  const auto shown = bias_of(flags, 3);
  EXPECT_EQ(shown(5, 1, 0), -kInf);
  EXPECT_EQ(shown(5, 1, 1), 0);
  EXPECT_EQ(shown(0, 0, 2), 0);
  EXPECT_THROW(bias_of(vec({1, 2}), 1), Error);
}

enum class Fault {
  None,
  HalfOfKeys,
  LastKeyDropped,
  LostRescale,
  HeadZero,
  WrongScale,
  NoSink,
  KeysAsValues,
  NoStride,
  InexactRescale
};

struct Walk {
  HostTensor output, lse;
};

/// The walk of a kernel in f32: 32 simdgroups take every 32nd key, keep a running maximum, and are merged at the end.
Walk f32_attention(const HostTensor& q, const HostTensor& k, const HostTensor& v, const Attention& a,
                   Fault fault = Fault::None) {
  Walk run{HostTensor("o", q.dtype, {a.heads, a.queries, a.head_dim}),
           HostTensor("lse", DType::F32, {a.heads, a.queries})};
  const auto dim = static_cast<std::size_t>(a.head_dim);
  const float scale = static_cast<float>(a.scale) * (fault == Fault::WrongScale ? 1.01f : 1.f);
  const std::int64_t n = fault == Fault::HalfOfKeys ? a.n_kv / 2 : fault == Fault::LastKeyDropped ? a.n_kv - 1 : a.n_kv;
  for (std::int64_t row = 0; row < a.heads * a.queries; ++row) {
    const std::int64_t kv_head = fault == Fault::HeadZero ? 0 : row / a.queries / (a.heads / a.kv_heads);
    float top[32], sum[32] = {};
    std::fill(top, top + 32, -INFINITY);
    std::vector<std::vector<float>> o(32, std::vector<float>(dim));
    for (std::int64_t t = 0; t < n; ++t) {
      if (t >= a.sink_end && t < a.window_start) continue;
      const std::int64_t at = (kv_head * (fault == Fault::NoStride ? a.n_kv : a.kv_stride) + t) * a.head_dim;
      const auto g = static_cast<std::size_t>(t % 32);
      const float s = scale * f32_sum(a.head_dim, Order::Lanes, [&](std::int64_t d) {
                        return static_cast<float>(q.at(row * a.head_dim + d)) * static_cast<float>(k.at(at + d));
                      });
      const float next = std::fmax(top[g], s), p = std::exp(s - next);
      const float old = std::exp(top[g] - next) * (fault == Fault::InexactRescale && next != top[g] ? 1.0001f : 1.f);
      top[g] = next;
      sum[g] = sum[g] * old + p;
      for (std::size_t d = 0; d < dim; ++d)
        o[g][d] = o[g][d] * old +
                  p * static_cast<float>((fault == Fault::KeysAsValues ? k : v).at(at + static_cast<std::int64_t>(d)));
    }
    const bool has_sink = !a.sink_logits.empty() && fault != Fault::NoSink;
    const float sink =
        has_sink ? static_cast<float>(
                       a.sink_logits[a.sink_logits.size() == 1 ? 0 : static_cast<std::size_t>(row / a.queries)])
                 : -INFINITY;
    float all = sink, z = 0;
    for (const float t : top) all = std::fmax(all, t);
    if (has_sink) z += std::exp(sink - all);
    std::vector<float> merged(dim);
    for (std::size_t g = 0; g < 32; ++g) {
      if (sum[g] == 0) continue;
      const float factor = fault == Fault::LostRescale ? 1 : std::exp(top[g] - all);
      z += sum[g] * factor;
      for (std::size_t d = 0; d < dim; ++d) merged[d] += o[g][d] * factor;
    }
    for (std::size_t d = 0; d < dim; ++d)
      run.output.set(row * a.head_dim + static_cast<std::int64_t>(d), z == 0 ? 0 : static_cast<double>(merged[d] / z));
    run.lse.set(row, z == 0 ? -kInf : static_cast<double>(all + std::log(z)));
  }
  return run;
}

struct Data {
  HostTensor q, k, v;
};
Data data_for(DType dtype, const Attention& a) {
  const std::vector<std::int64_t> cache = {a.kv_heads, a.kv_stride, a.head_dim};
  return {random_normal(dtype, {a.heads, a.queries, a.head_dim}, 1, 0, 2), random_normal(dtype, cache, 2),
          random_normal(dtype, cache, 3)};
}

TEST(Attention, AcceptsAnOnlineF32Computation) {
  for (const DType dtype : kFloats)
    for (const std::int64_t n : {0, 1, 31, 33, 64, 500})
      for (const std::int64_t dim : {64, 96, 128}) {
        Attention a{.heads = 6, .kv_heads = 2, .queries = 2, .head_dim = dim, .n_kv = n, .kv_stride = n + 3};
        a.scale = 1 / std::sqrt(static_cast<float>(dim));
        const Data d = data_for(dtype, a);
        for (const bool special : {false, true}) {
          if (special) {
            a.sink_end = 4;
            a.window_start = 20;
            a.sink_logits = {0, 1, 2, 3, -1, 5};
          }
          const AttentionExpected e = attention(d.q, d.k, d.v, a);
          const Walk r = f32_attention(d.q, d.k, d.v, a);
          EXPECT_TRUE(compare(e.output, r.output).passed()) << n << ' ' << compare(e.output, r.output).sentence;
          EXPECT_TRUE(compare(e.lse, r.lse).passed()) << n << ' ' << compare(e.lse, r.lse).sentence;
        }
      }
}

TEST(Attention, RejectsFaultsInEveryDtype) {
  for (const DType dtype : kFloats) {
    Attention a{.heads = 4, .kv_heads = 2, .queries = 2, .head_dim = 64, .n_kv = 200, .kv_stride = 210};
    a.scale = 0.125;
    a.sink_logits = {2};
    const Data d = data_for(dtype, a);
    const AttentionExpected e = attention(d.q, d.k, d.v, a);
    for (const Fault fault : {Fault::HalfOfKeys, Fault::LastKeyDropped, Fault::LostRescale, Fault::HeadZero,
                              Fault::WrongScale, Fault::NoSink, Fault::KeysAsValues, Fault::NoStride}) {
      const Walk r = f32_attention(d.q, d.k, d.v, a, fault);
      // A dropped key hurts the queries that weigh it; wrong heads spare the first half.
      EXPECT_GT(compare(e.output, r.output).wrong, 100) << name_of(dtype) << ' ' << static_cast<int>(fault);
      const std::int64_t wrong = compare(e.lse, r.lse).wrong;
      EXPECT_EQ(wrong >= 4, fault != Fault::KeysAsValues) << static_cast<int>(fault);
    }
  }
}

TEST(Attention, ARescalingOffByOnePartIn10000IsSeen) {
  Attention a{.heads = 4, .kv_heads = 2, .queries = 2, .head_dim = 64, .n_kv = 64, .kv_stride = 64};
  a.scale = 0.01;
  const Data d = data_for(DType::F32, a);
  const AttentionExpected e = attention(d.q, d.k, d.v, a);
  EXPECT_TRUE(compare(e.output, f32_attention(d.q, d.k, d.v, a).output).passed());
  EXPECT_GT(compare(e.output, f32_attention(d.q, d.k, d.v, a, Fault::InexactRescale).output).wrong, 50);
}

TEST(Attention, PartialsInTheNarrowDtypeNeedTheirRoundoff) {
  Attention a{.heads = 2, .head_dim = 64, .n_kv = 100, .kv_stride = 100, .scale = 0.125};
  const Data d = data_for(DType::F16, a);
  HostTensor out("o", DType::F32, {2, 1, 64});
  const AttentionExpected strict = attention(d.q, d.k, d.v, a);
  for (std::int64_t i = 0; i < out.count(); ++i)
    out.set(i, round_to(DType::F16, strict.output.value[static_cast<std::size_t>(i)]));
  EXPECT_GT(compare(strict.output, out).wrong, 50);
  a.partial_roundoff = 0x1p-11;
  EXPECT_TRUE(compare(attention(d.q, d.k, d.v, a).output, out).passed());
}

}  // namespace
}  // namespace mt::oracle
