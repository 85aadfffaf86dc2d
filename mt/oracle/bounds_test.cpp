// Each family of references through the comparer: the result that lies just inside what it allows passes, the next
// representable one fails, and NaN and infinities must stand where they are expected.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "mt/oracle/codes.h"
#include "mt/oracle/compare.h"
#include "mt/oracle/fill.h"
#include "mt/oracle/oracle.h"
#include "mt/oracle/testing.h"

namespace mt::oracle {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

/// Bits of element 0 as a number that grows with the value.
std::int64_t ordinal(const HostTensor& t) {
  const bool wide = t.dtype == DType::F32;
  const std::int64_t bits = wide ? t.as<std::uint32_t>()[0] : t.as<std::uint16_t>()[0];
  const std::int64_t sign = wide ? std::int64_t{1} << 31 : 1 << 15;
  return bits & sign ? sign - bits : bits;
}

/// The value after `v`, a value of the dtype, in the direction of `step`.
double next(DType dtype, double v, int step) {
  if (is_int(dtype)) return v + step;
  HostTensor t = tensor(dtype, {1}, {v});
  const bool wide = dtype == DType::F32;
  const std::int64_t at = ordinal(t) + step, sign = wide ? std::int64_t{1} << 31 : 1 << 15;
  const std::int64_t bits = at < 0 ? sign - at : at;
  if (wide)
    t.as<std::uint32_t>()[0] = static_cast<std::uint32_t>(bits);
  else
    t.as<std::uint16_t>()[0] = static_cast<std::uint16_t>(bits);
  return t.at(0);
}

struct Counts {
  int edges = 0, specials = 0, loose = 0;  // loose: finite elements with a bound above 0
};

/// Holds one element at a time of an otherwise right result against both ends of what it may be.
Counts probe(const Expected& e, DType dtype, const std::string& family) {
  Counts counts;
  const auto n = static_cast<std::int64_t>(e.value.size());
  HostTensor right("out", dtype, {n});
  for (std::int64_t i = 0; i < n; ++i) right.set(i, e.value[static_cast<std::size_t>(i)]);
  EXPECT_TRUE(compare(e, right).passed()) << family << ": " << compare(e, right).sentence;
  const auto verdict = [&](std::int64_t i, double value) {
    HostTensor t = right;
    t.set(i, value);
    const CompareResult r = compare(e, t);
    if (!r.passed()) {
      EXPECT_EQ(r.wrong, 1) << family;
      EXPECT_EQ(r.first_wrong, i) << family;
      EXPECT_GT(r.max_error, 1) << family;
    }
    return r.passed();
  };
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double value = e.value[at], bound = e.bound[at];
    if (is_float(dtype)) {
      ++counts.specials;
      EXPECT_EQ(verdict(i, kNan), std::isnan(value)) << family << " element " << i;
    }
    if (!std::isfinite(value)) {
      EXPECT_FALSE(verdict(i, 1)) << family << ": a number where " << value << " is expected";
      EXPECT_EQ(verdict(i, -kInf), value == -kInf) << family;
      EXPECT_EQ(verdict(i, kInf), value == kInf) << family;
      continue;
    }
    counts.loose += bound > 0;
    const double low = e.low.empty() ? value : e.low[at], high = e.high.empty() ? value : e.high[at];
    for (const int side : {-1, 1}) {
      const double end = side < 0 ? low - bound : high + bound, inside = round_to(dtype, end);
      EXPECT_TRUE(verdict(i, inside)) << family << " element " << i << ": " << inside << " of " << value << " +- "
                                      << bound;
      if (std::isinf(inside)) continue;
      ++counts.edges;
      const double outside = next(dtype, inside, side);
      EXPECT_FALSE(verdict(i, outside)) << family << " element " << i << ": " << outside << " of " << value << " +- "
                                        << bound;
    }
  }
  EXPECT_GT(counts.edges + counts.specials, 0) << family;
  return counts;
}

HostTensor filled(const char* name, DType dtype, std::vector<std::int64_t> shape, const Fill& fill,
                  bool edges = false) {
  HostTensor t(name, dtype, std::move(shape));
  oracle::fill(t, fill, 3, 0, edges);
  return t;
}

void probe_floats(const std::string& family, const std::function<Expected(DType)>& expect, bool loose) {
  for (const DType dtype : kFloats) {
    const Counts c = probe(expect(dtype), dtype, family + " " + std::string(name_of(dtype)));
    EXPECT_EQ(c.loose > 0, loose) << family << ": a bound of zero asks for exact results";
  }
}

TEST(Bounds, Unary) {
  const Unary exact[] = {Unary::Copy,  Unary::Square, Unary::Abs,   Unary::Neg,   Unary::Sign,
                         Unary::Floor, Unary::Ceil,   Unary::Round, Unary::Trunc, Unary::Relu};
  for (int op = 0; op < kUnaryCount; ++op) {
    const auto f = static_cast<Unary>(op);
    const bool is_exact = std::find(std::begin(exact), std::end(exact), f) != std::end(exact);
    probe_floats(
        std::string(name_of(f)),
        [&](DType dtype) { return unary(f, filled("x", dtype, {90}, Fill::normal(0, 2), true)); }, !is_exact);
  }
}

TEST(Bounds, BinaryAndGated) {
  const auto operands = [](DType dtype) {
    return std::pair(filled("a", dtype, {90}, Fill::normal(0, 3), true), filled("b", dtype, {90}, Fill::normal(0, 3)));
  };
  for (int op = 0; op < kBinaryCount; ++op) {
    const auto f = static_cast<Binary>(op);
    const bool loose = f == Binary::Pow || f == Binary::Atan2 || f == Binary::LogAddExp;
    probe_floats(
        std::string(name_of(f)),
        [&](DType dtype) {
          const auto [a, b] = operands(dtype);
          return binary(f, a, b);
        },
        loose);
  }
  using Gate = Expected (*)(const HostTensor&, const HostTensor&);
  const Gate gates[] = {[](auto& g, auto& u) { return swiglu(g, u); }, gate_gelu,
                        [](const HostTensor& g, const HostTensor& u) { return clipped_swiglu(g, u); }};
  for (const Gate gate : gates)
    probe_floats(
        "gated",
        [&](DType dtype) {
          const auto [a, b] = operands(dtype);
          return gate(a, b);
        },
        true);
  probe_floats(
      "select",
      [&](DType dtype) {
        const auto [a, b] = operands(dtype);
        return select(filled("c", DType::U8, {90}, Fill::integers(0, 2)), a, b);
      },
      false);
}

TEST(Bounds, ReductionsAndScans) {
  for (const Reduction op : {Reduction::Sum, Reduction::Prod, Reduction::Max, Reduction::Min}) {
    const bool loose = op == Reduction::Sum || op == Reduction::Prod;
    const Fill fill = op == Reduction::Prod ? Fill::uniform(0.9, 1.1) : Fill::normal();
    const auto x = [&](DType dtype) { return filled("x", dtype, {4, 130}, fill, !loose); };
    probe_floats(
        "row reduce", [&](DType dtype) { return row_reduce(op, x(dtype)); }, loose);
    probe_floats(
        "all reduce", [&](DType dtype) { return all_reduce(op, x(dtype)); }, loose);
    probe_floats(
        "all reduce of finite numbers",
        [&](DType dtype) {
          return all_reduce(op, filled("x", dtype, {4, 130}, fill));
        },
        loose);
    for (const ScanKind kind : {ScanKind::Inclusive, ScanKind::Exclusive})
      probe_floats(
          "scan", [&](DType dtype) { return scan(op, kind, x(dtype)); }, loose);
  }
}

TEST(Bounds, OrderAndIndices) {
  probe_floats(
      "sort",
      [](DType dtype) {
        return sort_rows(filled("x", dtype, {3, 40}, Fill::normal(), true));
      },
      false);
  for (const DType dtype : kFloats) {
    const HostTensor x = filled("x", dtype, {6, 40}, Fill::normal(), true);
    for (const Expected& e : {arg_max(x), arg_min(x), arg_max_all(x), arg_min_all(x)})
      EXPECT_EQ(probe(e, DType::U32, "index").loose, 0);
  }
}

TEST(Bounds, SoftmaxAndNorms) {
  const auto rows = [](DType dtype) { return filled("x", dtype, {4, 70}, Fill::normal(0, 3)); };
  const auto wild = [](DType dtype) { return filled("x", dtype, {7, 33}, Fill::normal(0, 3), true); };
  const auto weights = [](DType dtype) { return filled("w", dtype, {70}, Fill::normal()); };
  probe_floats(
      "softmax", [&](DType dtype) { return softmax(rows(dtype)); }, true);
  probe_floats(
      "softmax with edges", [&](DType dtype) { return softmax(wild(dtype)); }, true);
  probe_floats(
      "logsumexp", [&](DType dtype) { return logsumexp(rows(dtype)); }, true);
  probe_floats(
      "logsumexp with edges", [&](DType dtype) { return logsumexp(wild(dtype)); }, true);
  probe_floats(
      "rms norm", [&](DType dtype) { return rms_norm(rows(dtype), weights(dtype), 1e-5); }, true);
  probe_floats(
      "layer norm",
      [&](DType dtype) {
        return layer_norm(rows(dtype), weights(dtype), filled("b", dtype, {70}, Fill::normal()), 1e-5);
      },
      true);
}

/// What an exponential may lose widens the bound by that much of the value and leaves other functions alone.
TEST(Bounds, ALossOfExponentialsIsAllowedWhereItIsAskedFor) {
  constexpr double kLoss = 0x1p-15;
  HostTensor x("x", DType::F32, {4}), up("up", DType::F32, {4});
  const double at[] = {-3, -0.5, 1, 4};
  for (int i = 0; i < 4; ++i) {
    x.set(i, at[i]);
    up.set(i, 1);
  }
  const auto differs = [&](const Expected& lossy, const Expected& plain, double times, const char* what) {
    for (std::size_t i = 0; i < plain.value.size(); ++i)
      EXPECT_NEAR(lossy.bound[i] - plain.bound[i], times * kLoss * std::fabs(plain.value[i]), 1e-12)
          << what << " " << i;
  };
  for (const Unary f : {Unary::Exp, Unary::Sigmoid, Unary::Silu}) differs(unary(f, x, kLoss), unary(f, x), 1, "exp");
  for (const Unary f : {Unary::Tanh, Unary::Expm1, Unary::Copy}) differs(unary(f, x, kLoss), unary(f, x), 0, "others");
  differs(swiglu(x, up, kLoss), swiglu(x, up), 1, "swiglu");
  HostTensor row("x", DType::F32, {1, 4});
  for (int i = 0; i < 4; ++i) row.set(i, at[i]);
  differs(softmax(row, kLoss), softmax(row), 2, "softmax");
}

TEST(Bounds, RotaryEmbeddings) {
  const auto x = [](DType dtype) { return filled("x", dtype, {3, 2, 8}, Fill::normal()); };
  const RopeShape shape{.heads = 3, .seq = 2, .dim = 8, .head_stride = 16, .seq_stride = 8, .first_position = 5000};
  probe_floats(
      "rope", [&](DType dtype) { return rope(x(dtype), shape, 13.3); }, true);
  const LlamaRope llama{.theta_base = 500000, .scale_factor = 8, .original_max_position = 8192};
  probe_floats(
      "llama rope", [&](DType dtype) { return rope_llama(x(dtype), 8, 77, llama); }, true);
}

TEST(Bounds, AttentionAndItsLogSum) {
  const auto with = [](DType dtype, std::vector<double> sinks, std::int64_t keys) {
    return attention(filled("q", dtype, {4, 2, 8}, Fill::normal(0, 2)), filled("k", dtype, {2, 9, 8}, Fill::normal()),
                     filled("v", dtype, {2, 9, 8}, Fill::normal()),
                     {.heads = 4,
                      .kv_heads = 2,
                      .queries = 2,
                      .head_dim = 8,
                      .n_kv = keys,
                      .kv_stride = 9,
                      .scale = 0.35,
                      .sink_logits = std::move(sinks)});
  };
  for (const std::vector<double>& sinks : {std::vector<double>{}, std::vector<double>{1.5}}) {
    probe_floats(
        "attention", [&](DType dtype) { return with(dtype, sinks, 7).output; }, true);
    EXPECT_GT(probe(with(DType::F32, sinks, 7).lse, DType::F32, "log of the sum").loose, 0);
  }
  probe_floats(
      "attention without keys", [&](DType dtype) { return with(dtype, {}, 0).output; }, false);
  EXPECT_EQ(probe(with(DType::F32, {1.5}, 0).lse, DType::F32, "sink alone").specials, 8);
}

TEST(Bounds, Quantisation) {
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    const HostTensor words = filled("w", DType::U32, {4, 2 * bits}, Fill::bits());
    const auto groups = [](const char* name, DType dtype) { return filled(name, dtype, {4, 2}, Fill::normal()); };
    probe_floats(
        "dequantise",
        [&](DType dtype) { return affine_dequantise(words, groups("s", dtype), groups("b", dtype), bits, 32, 64); },
        true);
    probe_floats(
        "quantised product",
        [&](DType dtype) {
          return quantised_matmul(filled("x", dtype, {3, 64}, Fill::normal()), words, groups("s", dtype),
                                  groups("b", dtype), bits, 32);
        },
        true);
    const QuantisedExpected q = affine_quantise(filled("x", DType::F32, {3, 64}, Fill::normal()), bits, 32);
    EXPECT_GT(probe(q.scales, DType::F32, "scales").loose, 0);
    EXPECT_EQ(probe(q.biases, DType::F32, "biases").loose, 0);
  }
}

TEST(Bounds, CodesNextToATieMayFallEitherWayAndNoFurther) {
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    const Expected e = affine_quantise(filled("x", DType::F32, {2, 64}, Fill::normal()), bits, 64).words;
    HostTensor right("w", DType::U32, {2, words_per_row(64, bits)});
    const auto put_code = [&](HostTensor& t, std::int64_t i, std::uint32_t code) {
      std::uint32_t* row = t.as<std::uint32_t>() + i / 64 * words_per_row(64, bits);
      for (int b = 0; b < bits; ++b) {
        const std::int64_t at = i % 64 * bits + b;
        row[at / 32] &= ~(1u << (at % 32));
        row[at / 32] |= (code >> b & 1) << (at % 32);
      }
    };
    for (std::int64_t i = 0; i < 128; ++i)
      put_code(right, i, static_cast<std::uint32_t>(e.value[static_cast<std::size_t>(i)]));
    EXPECT_TRUE(compare(e, right).passed()) << compare(e, right).sentence;
    for (std::int64_t i = 0; i < 128; ++i)
      for (const int step : {-1, 1}) {
        const auto at = static_cast<std::size_t>(i);
        const double code = e.value[at] + step;
        if (code < 0 || code >= 1 << bits) continue;
        HostTensor t = right;
        put_code(t, i, static_cast<std::uint32_t>(code));
        EXPECT_EQ(compare(e, t).passed(), code >= e.low[at] && code <= e.high[at]) << bits << " bits, code " << i;
      }
  }
}

TEST(Bounds, Movement) {
  const auto x = [](DType dtype) { return filled("x", dtype, {5, 12}, Fill::normal(), true); };
  probe_floats(
      "copy", [&](DType dtype) { return copy(x(dtype)); }, false);
  probe_floats(
      "strided copy",
      [&](DType dtype) {
        return strided_copy(x(dtype), {3, 4}, {0, 5}, 2);
      },
      false);
  probe_floats(
      "gather", [&](DType dtype) { return gather_rows(x(dtype), filled("i", DType::U32, {7}, Fill::integers(0, 6))); },
      false);
  EXPECT_EQ(probe(random_hash(50), DType::U32, "random words").loose, 0);
  EXPECT_EQ(probe(arange(-3.5, 0.25, 50), DType::F32, "exact sequence").loose, 0);
  EXPECT_GT(probe(arange(0.1, 0.3, 50), DType::F32, "sequence").loose, 0);
}

/// What is allowed follows the data: rows of another magnitude are allowed errors of that magnitude.
TEST(Bounds, GrowWithTheMagnitudeOfTheSummands) {
  const HostTensor small = filled("x", DType::F32, {1, 200}, Fill::normal());
  HostTensor large = small, cancelling = small;
  for (std::int64_t i = 0; i < 200; ++i) {
    large.set(i, small.at(i) * 1024);
    cancelling.set(i, i % 2 == 0 ? small.at(i) : -small.at(i - 1));
  }
  const double bound = row_reduce(Reduction::Sum, small).bound[0];
  EXPECT_DOUBLE_EQ(row_reduce(Reduction::Sum, large).bound[0], 1024 * bound);
  const Expected nothing = row_reduce(Reduction::Sum, cancelling);
  EXPECT_EQ(nothing.value[0], 0);
  EXPECT_GT(nothing.bound[0], bound / 2) << "terms that cancel round no less than others";
}

}  // namespace
}  // namespace mt::oracle
