// Every elementary function against double libm: edges, a sweep over all bit patterns, and where the function is hard.
#include <bit>
#include <limits>
#include <random>

#include "backends/cpu/testing.h"

namespace mt::cpu {
namespace {

double erfinv_reference(double y) {
  if (!(std::fabs(y) < 1)) return std::fabs(y) == 1 ? y * HUGE_VAL : NAN;
  // Bisection on erfc of the distance to 1, which a double holds exactly for an f32.
  double lo = 0, hi = 7;
  const double a = std::fabs(y);
  for (int i = 0; i < 200; ++i) {
    const double mid = (lo + hi) / 2;
    const bool below = a < 0.5 ? std::erf(mid) < a : std::erfc(mid) > 1 - a;
    (below ? lo : hi) = mid;
  }
  return std::copysign((lo + hi) / 2, y);
}

double reference(Op op, double a, double b) {
  switch (op) {
    case Op::Sqrt:
      return std::sqrt(a);
    case Op::Rsqrt:
      return 1 / std::sqrt(a);
    case Op::Recip:
      return 1 / a;
    case Op::Exp:
      return std::exp(a);
    case Op::Exp2:
      return std::exp2(a);
    case Op::Expm1:
      return std::expm1(a);
    case Op::Log:
      return std::log(a);
    case Op::Log2:
      return std::log2(a);
    case Op::Log10:
      return std::log10(a);
    case Op::Log1p:
      return std::log1p(a);
    case Op::Sin:
      return std::sin(a);
    case Op::Cos:
      return std::cos(a);
    case Op::Tan:
      return std::tan(a);
    case Op::Asin:
      return std::asin(a);
    case Op::Acos:
      return std::acos(a);
    case Op::Atan:
      return std::atan(a);
    case Op::Sinh:
      return std::sinh(a);
    case Op::Cosh:
      return std::cosh(a);
    case Op::Tanh:
      return std::tanh(a);
    case Op::Asinh:
      return std::asinh(a);
    case Op::Acosh:
      return std::acosh(a);
    case Op::Atanh:
      return std::atanh(a);
    case Op::Erf:
      return std::erf(a);
    case Op::Erfinv:
      return erfinv_reference(a);
    case Op::Floor:
      return std::floor(a);
    case Op::Ceil:
      return std::ceil(a);
    case Op::Round:
      return std::nearbyint(a);
    case Op::Trunc:
      return std::trunc(a);
    case Op::Sign:
      return a > 0 ? 1 : a < 0 ? -1 : a;
    case Op::Pow:
      return std::pow(a, b);
    case Op::Atan2:
      return std::atan2(a, b);
    default:
      ADD_FAILURE() << "no reference for " << info(op).name;
      return 0;
  }
}

/// Distance from the exact result in units of the last place of an f32 there.
double ulps(float got, double want) {
  const auto rounded = static_cast<float>(want);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : 1e30;
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : 1e30;
  int e = 0;
  std::frexp(want, &e);
  return std::fabs(static_cast<double>(got) - want) / std::ldexp(1.0, std::max(e - 24, -149));
}

std::vector<float> inputs(Op op) {
  std::vector<float> v;
  for (const float e : {0.0f,
                        1.0f,
                        0.5f,
                        2.0f,
                        3.0f,
                        10.0f,
                        88.7f,
                        88.8f,
                        103.9f,
                        104.1f,
                        126.0f,
                        127.0f,
                        128.0f,
                        149.0f,
                        150.0f,
                        131071.0f,
                        1e5f,
                        8388607.5f,
                        4194303.5f,
                        1e30f,
                        3.4028235e38f,
                        1e-45f,
                        1.17549435e-38f,
                        1e-40f,
                        0.92f,
                        0.999999940395f,
                        1.00000012f,
                        HUGE_VALF,
                        NAN,
                        0.41421357f,
                        2.4142137f,
                        1.5707964f,
                        3.1415927f,
                        6.2831855f})
    for (const float s : {e, -e}) v.push_back(s);
  const std::uint32_t stride = op == Op::Exp || op == Op::Log || op == Op::Sin || op == Op::Cos ? 4099u : 65537u;
  for (std::uint64_t b = 0; b < (1ull << 32); b += stride)
    v.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(b)));
  std::mt19937 random(7);
  for (int i = 0; i < 60000; ++i) {
    v.push_back(std::uniform_real_distribution<float>(-1.001f, 1.001f)(random));
    v.push_back(std::uniform_real_distribution<float>(-105, 90)(random));
    v.push_back(1 + std::uniform_real_distribution<float>(-0.01f, 0.5f)(random));
  }
  v.resize((v.size() + 255) / 256 * 256, 1.0f);
  return v;
}

/// out[i] = op(x[i], y[i]) for a whole number of threadgroups.
std::vector<float> run(Op op, const std::vector<float>& x, const std::vector<float>& y) {
  Kernel k;
  k.name = "maths";
  k.threads = 64;
  for (const char* name : {"x", "y", "out"})
    k.memories.push_back({.name = name, .access = name[0] == 'o' ? Access::Out : Access::In, .shape = {"n"}});
  Builder b(k);
  const ValueId group = b.value({.op = Op::GroupId}, {DType::U32}),
                thread = b.value({.op = Op::ThreadId}, {DType::U32});
  const ValueId i = b.binary(Op::Add, b.binary(Op::Mul, group, b.constant_int(DType::U32, 64)), thread);
  const ValueId a = b.load(MemoryId{0}, i);
  const ValueId c = b.load(MemoryId{1}, i);
  b.store(MemoryId{2}, i, info(op).arity == 2 ? b.binary(op, a, c) : b.unary(op, a));
  Launch l{.kernel = k, .groups = {static_cast<std::int64_t>(x.size()) / 64, 1, 1}};
  for (const auto* from : {&x, &y, &x}) {
    l.tensors.emplace_back("t", DType::F32, std::vector<std::int64_t>{static_cast<std::int64_t>(x.size())});
    std::memcpy(l.tensors.back().data.data(), from->data(), 4 * x.size());
  }
  const auto after = l.run("cpu");
  return {after[2].as<float>(), after[2].as<float>() + x.size()};
}

class Maths : public ::testing::TestWithParam<Op> {};

TEST_P(Maths, StaysWithinTheTablesBound) {
  const Op op = GetParam();
  std::vector<float> x = inputs(op), y = x;
  if (info(op).arity == 2) {
    std::mt19937 random(3);
    std::shuffle(y.begin(), y.end(), random);
    const std::vector<float> edges(x.begin(), x.begin() + 68);
    for (const float a : edges)
      for (const float c : edges) x.push_back(a), y.push_back(c);
    for (int i = 0; i < 100000; ++i) {
      x.push_back(std::uniform_real_distribution<float>(-20, 20)(random));
      y.push_back(i % 3 ? std::uniform_real_distribution<float>(-30, 30)(random)
                        : std::round(std::uniform_real_distribution<float>(-30, 30)(random)));
    }
    x.resize(x.size() / 64 * 64);
    y.resize(x.size());
  }
  const std::vector<float> got = run(op, x, y);
  double worst = 0;
  int wrong = 0;
  const double bound = std::max(info(op).ulp, 0.5);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = reference(op, static_cast<double>(x[i]), static_cast<double>(y[i]));
    const double e = ulps(got[i], want);
    worst = std::max(worst, e);
    if (e > bound && ++wrong <= 5)
      ADD_FAILURE() << info(op).name << "(" << x[i] << (info(op).arity == 2 ? ", " + std::to_string(y[i]) : "")
                    << ") = " << got[i] << ", want " << want << ": " << e << " ulp of " << bound;
    if (want == 0 && got[i] == 0) {
      EXPECT_EQ(std::signbit(got[i]), std::signbit(want)) << mt::info(op).name << "(" << x[i] << ", " << y[i] << ")";
    }
  }
  EXPECT_EQ(wrong, 0);
  RecordProperty("worst_ulp", std::to_string(worst));
  std::printf("%-8s %.2f ulp of %g over %zu values\n", std::string(info(op).name).c_str(), worst, bound, x.size());
}

std::vector<Op> functions() {
  std::vector<Op> all;
  for (int i = 0; i < op_count(); ++i) {
    const auto op = static_cast<Op>(i);
    const bool exact = op == Op::Floor || op == Op::Ceil || op == Op::Round || op == Op::Trunc || op == Op::Sign;
    if (info(op).ulp > 0 || exact) all.push_back(op);
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, Maths, ::testing::ValuesIn(functions()),
                         [](const auto& p) { return std::string(mt::info(p.param).name); });

}  // namespace
}  // namespace mt::cpu
