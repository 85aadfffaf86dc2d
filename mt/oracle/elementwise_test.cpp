#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mt/base/error.h"
#include "mt/oracle/activations.h"
#include "mt/oracle/binary.h"
#include "mt/oracle/compare.h"
#include "mt/oracle/rounding.h"
#include "mt/oracle/testing.h"
#include "mt/oracle/unary.h"

namespace mt::oracle {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

/// f, computed in f32 for each element of x and rounded to its dtype.
template <class F>
HostTensor apply(const HostTensor& x, F f) {
  HostTensor out("out", x.dtype, x.shape);
  for (std::int64_t i = 0; i < x.count(); ++i) out.set(i, static_cast<double>(f(static_cast<float>(x.at(i)))));
  return out;
}

HostTensor sweep(DType dtype) {
  std::vector<double> values = {0,     -0.0, 0.5, 1.5, 2.5,  -0.5, -1.5, 1,     -1,   1e-30, -1e-30, 3e-5,
                                -3e-5, 88,   -88, 200, -200, 6e4,  -6e4, 1e-40, kInf, -kInf, kNan};
  for (int i = -2000; i <= 2000; ++i) values.push_back(i * 0.0173);
  return tensor(dtype, {static_cast<std::int64_t>(values.size())}, values);
}

struct Model {
  Unary op;
  float (*f)(float);
};

const Model kModels[] = {
    {Unary::Exp, std::exp},
    {Unary::Exp2, std::exp2},
    {Unary::Expm1, std::expm1},
    {Unary::Log, std::log},
    {Unary::Log2, std::log2},
    {Unary::Log10, std::log10},
    {Unary::Log1p, std::log1p},
    {Unary::Sqrt, std::sqrt},
    {Unary::Rsqrt, [](float x) { return 1 / std::sqrt(x); }},
    {Unary::Recip, [](float x) { return 1 / x; }},
    {Unary::Square, [](float x) { return x * x; }},
    {Unary::Abs, std::fabs},
    {Unary::Neg, [](float x) { return -x; }},
    {Unary::Sign, [](float x) { return std::isnan(x) ? x
                                       : x > 0       ? 1.f
                                       : x < 0       ? -1.f
                                                     : x; }},
    {Unary::Floor, std::floor},
    {Unary::Ceil, std::ceil},
    {Unary::Round, std::nearbyint},
    {Unary::Trunc, std::trunc},
    {Unary::Sin, std::sin},
    {Unary::Cos, std::cos},
    {Unary::Tan, std::tan},
    {Unary::Asin, std::asin},
    {Unary::Acos, std::acos},
    {Unary::Atan, std::atan},
    {Unary::Sinh, std::sinh},
    {Unary::Cosh, std::cosh},
    {Unary::Tanh, std::tanh},
    {Unary::Asinh, std::asinh},
    {Unary::Acosh, std::acosh},
    {Unary::Atanh, std::atanh},
    {Unary::Erf, std::erf},
    {Unary::Sigmoid, [](float x) { return 1 / (1 + std::exp(-x)); }},
    {Unary::Silu, [](float x) { return x / (1 + std::exp(-x)); }},
    {Unary::Silu, [](float x) { return x * (1 / (1 + std::exp2(x * -1.44269504f))); }},
    {Unary::Gelu, [](float x) { return 0.5f * x * (1 + std::tanh(0.797884561f * (x + 0.044715f * x * x * x))); }},
    {Unary::Relu, [](float x) { return x < 0 ? 0 : x; }},
    {Unary::Softplus, [](float x) { return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::fabs(x))); }},
    {Unary::Copy, [](float x) { return x; }},
};

TEST(UnaryOracle, AcceptsAnF32ComputationOfEachFunction) {
  for (const DType dtype : kFloats) {
    const HostTensor x = sweep(dtype);
    for (const Model& m : kModels) {
      const CompareResult r = compare(unary(m.op, x), apply(x, m.f));
      EXPECT_TRUE(r.passed()) << name_of(m.op) << ' ' << r.sentence;
      EXPECT_EQ(r.compared, x.count());
    }
  }
}

TEST(UnaryOracle, RejectsAResultThatIsSlightlyOffOrOfTheNeighbour) {
  for (const Model& m : kModels) {
    const bool rounds = m.op == Unary::Sign || m.op == Unary::Floor || m.op == Unary::Ceil || m.op == Unary::Round ||
                        m.op == Unary::Trunc;
    const HostTensor x = random_normal(DType::F32, {1000}, 7, rounds || m.op == Unary::Acosh ? 3 : 0.2, 0.2);
    const HostTensor off = apply(x, [&](float v) { return m.f(v) * 1.00001f; });
    EXPECT_GT(compare(unary(m.op, x), off).wrong, 500) << name_of(m.op);
    HostTensor beside = apply(x, m.f);
    beside.set(123, beside.at(123) + 0.01);
    EXPECT_EQ(compare(unary(m.op, x), beside).first_wrong, 123) << name_of(m.op);
  }
}

TEST(UnaryOracle, KnownValues) {
  EXPECT_EQ(unary(Unary::Round, 0.5), 0);
  EXPECT_EQ(unary(Unary::Round, 1.5), 2);
  EXPECT_EQ(unary(Unary::Round, -2.5), -2);
  EXPECT_EQ(unary(Unary::Exp, -kInf), 0);
  EXPECT_NEAR(unary(Unary::Sigmoid, 0), 0.5, 0);
  EXPECT_NEAR(unary(Unary::Silu, 1), 0.7310585786300049, 1e-15);
  EXPECT_NEAR(unary(Unary::Gelu, 1), 0.8411919906082768, 1e-15);
  EXPECT_NEAR(unary(Unary::Softplus, 0), std::log(2.0), 1e-16);
  EXPECT_NEAR(unary(Unary::Softplus, -40) / std::exp(-40.0), 1, 1e-12);
  EXPECT_EQ(unary(Unary::Softplus, kInf), kInf);
  EXPECT_TRUE(std::isnan(unary(Unary::Relu, kNan)));
  EXPECT_TRUE(std::isnan(unary(Unary::Sqrt, -1)));
  EXPECT_EQ(unary_from("log1p"), Unary::Log1p);
  for (int i = 0; i < kUnaryCount; ++i) EXPECT_EQ(unary_from(name_of(static_cast<Unary>(i))), static_cast<Unary>(i));
  EXPECT_THROW(unary_from("cosine"), Error);
}

TEST(UnaryOracle, ErfinvInvertsErf) {
  for (double y = -3.5; y <= 3.5; y += 0.01) {
    const double x = std::erf(y);
    const double condition = std::exp(y * y);  // of y as a function of the rounded erf(y)
    EXPECT_NEAR(erfinv(x), y, 4e-16 * condition + 1e-15 * std::fabs(y)) << y;
  }
  for (double x = 0x1p-149; x < 0x1p-2; x *= 2) EXPECT_NEAR(std::erf(erfinv(x)) / x, 1, 1e-14) << x;
  EXPECT_NEAR(std::erfc(erfinv(1 - 0x1p-24)) / 0x1p-24, 1, 1e-12);
  EXPECT_EQ(erfinv(1), kInf);
  EXPECT_EQ(erfinv(-1), -kInf);
  EXPECT_TRUE(std::isnan(erfinv(1.1)));
}

float f32_binary(Binary op, float a, float b) {
  switch (op) {
    case Binary::Add:
      return a + b;
    case Binary::Sub:
      return a - b;
    case Binary::Mul:
      return a * b;
    case Binary::Div:
      return a / b;
    case Binary::Max:
      return std::isnan(a) || std::isnan(b) ? a + b : std::fmax(a, b);
    case Binary::Min:
      return std::isnan(a) || std::isnan(b) ? a + b : std::fmin(a, b);
    case Binary::Pow:
      return std::pow(a, b);
    case Binary::Atan2:
      return std::atan2(a, b);
    case Binary::Rem:
      return std::fmod(a, b);
    case Binary::LogAddExp: {
      if (std::isnan(a) || std::isnan(b)) return a + b;
      const float top = std::fmax(a, b);
      return std::isinf(top) ? top : top + std::log1p(std::exp(-std::fabs(a - b)));
    }
  }
  return 0;
}

TEST(BinaryOracle, AcceptsF32AndRejectsSwappedOperandsAndNeighbours) {
  for (const DType dtype : kFloats) {
    HostTensor a = sweep(dtype), b = random_normal(dtype, a.shape, 3, 0, 2);
    for (std::int64_t i = 0; i < 23; ++i) b.set(30 + i, a.at(i));
    for (int k = 0; k < kBinaryCount; ++k) {
      const auto op = static_cast<Binary>(k);
      HostTensor out("out", dtype, a.shape), swapped = out, shifted = out;
      const std::int64_t n = a.count();
      for (std::int64_t i = 0; i < n; ++i) {
        const auto x = static_cast<float>(a.at(i)), y = static_cast<float>(b.at(i));
        out.set(i, static_cast<double>(f32_binary(op, x, y)));
        swapped.set(i, static_cast<double>(f32_binary(op, y, x)));
        shifted.set(i, static_cast<double>(f32_binary(op, x, static_cast<float>(b.at((i + 1) % n)))));
      }
      const Expected expected = binary(op, a, b);
      EXPECT_TRUE(compare(expected, out).passed()) << name_of(op) << ' ' << compare(expected, out).sentence;
      const bool commutes =
          op == Binary::Add || op == Binary::Mul || op == Binary::Max || op == Binary::Min || op == Binary::LogAddExp;
      EXPECT_EQ(compare(expected, swapped).wrong > n / 8, !commutes) << name_of(op);
      EXPECT_GT(compare(expected, shifted).wrong, n / 16) << name_of(op) << ' ' << name_of(dtype);
    }
  }
}

TEST(BinaryOracle, KnownValuesAndBroadcast) {
  const Expected rem = binary(Binary::Rem, vec({5.5, -5.5, 3}), vec({2}));
  EXPECT_EQ(rem.value, (std::vector<double>{1.5, -1.5, 1}));
  EXPECT_EQ(rem.bound, (std::vector<double>{0, 0, 0}));
  const Expected lae = binary(Binary::LogAddExp, vec({1000, -kInf, kInf, -kInf}), vec({1000, -kInf, -kInf, 2}));
  EXPECT_NEAR(lae.value[0], 1000 + std::log(2.0), 1e-12);
  EXPECT_EQ(lae.value[1], -kInf);
  EXPECT_EQ(lae.value[2], kInf);
  EXPECT_EQ(lae.value[3], 2);
  EXPECT_TRUE(std::isnan(binary(Binary::Max, vec({kNan}), vec({1})).value[0]));
  EXPECT_TRUE(std::isnan(binary(Binary::Min, vec({1}), vec({kNan})).value[0]));
  EXPECT_THROW(binary(Binary::Add, vec({1, 2, 3}), vec({1, 2})), Error);
  const SumAndProduct two = binary_two(vec({3}), vec({4}));
  EXPECT_EQ(two.sum.value[0], 7);
  EXPECT_EQ(two.product.value[0], 12);
  EXPECT_EQ(select(vec({1, 0, 7}, DType::U8), vec({1, 2, 3}), vec({4, 5, 6})).value, (std::vector<double>{1, 5, 3}));
}

TEST(GatedOracle, AcceptsF32AndRejectsSwappedGates) {
  for (const DType dtype : kFloats) {
    const HostTensor g = random_normal(dtype, {4000}, 1, 0, 4), u = random_normal(dtype, {4000}, 2, 0, 4);
    HostTensor swiglu_out("o", dtype, {4000}), gelu_out = swiglu_out, clipped_out = swiglu_out, unclipped = swiglu_out;
    for (std::int64_t i = 0; i < 4000; ++i) {
      const auto a = static_cast<float>(g.at(i)), b = static_cast<float>(u.at(i));
      const auto clip = [](float x) { return std::fmin(std::fmax(x, -7.f), 7.f); };
      swiglu_out.set(i, static_cast<double>(a / (1 + std::exp(-a)) * b));
      gelu_out.set(i, static_cast<double>(0.5f * a * (1 + std::tanh(0.797884561f * (a + 0.044715f * a * a * a))) * b));
      clipped_out.set(i, static_cast<double>(clip(a) / (1 + std::exp(-1.702f * clip(a))) * (clip(b) + 1)));
      unclipped.set(i, static_cast<double>(a / (1 + std::exp(-1.702f * a)) * (b + 1)));
    }
    EXPECT_TRUE(compare(swiglu(g, u), swiglu_out).passed()) << compare(swiglu(g, u), swiglu_out).sentence;
    EXPECT_TRUE(compare(gate_gelu(g, u), gelu_out).passed()) << compare(gate_gelu(g, u), gelu_out).sentence;
    EXPECT_TRUE(compare(clipped_swiglu(g, u), clipped_out).passed())
        << compare(clipped_swiglu(g, u), clipped_out).sentence;
    EXPECT_GT(compare(swiglu(u, g), swiglu_out).wrong, 3000);
    EXPECT_GT(compare(gate_gelu(g, u), swiglu_out).wrong, 2000);
    EXPECT_GT(compare(clipped_swiglu(g, u), unclipped).wrong, 200);
  }
}

}  // namespace
}  // namespace mt::oracle
