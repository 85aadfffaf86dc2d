#include "tests/conformance/reference.h"

#include <bit>
#include <cmath>
#include <limits>

#include "mt/base/error.h"
#include "mt/base/half.h"

namespace mt {
namespace {

__extension__ using Wide = __int128;

std::uint64_t mask_of(DType t) { return bits_of(t) == 64 ? ~0ull : (1ull << bits_of(t)) - 1; }

double real_of(DType t, std::uint64_t bits) {
  if (t == DType::F32) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  const auto h = static_cast<std::uint16_t>(bits);
  return static_cast<double>(t == DType::F16 ? f16_to_f32(h) : bf16_to_f32(h));
}
Wide whole_of(DType t, std::uint64_t bits) {
  const Wide v = static_cast<Wide>(bits & mask_of(t));
  return is_signed(t) && (bits >> (bits_of(t) - 1) & 1) != 0 ? v - (static_cast<Wide>(1) << bits_of(t)) : v;
}
std::uint64_t wrapped(DType t, Wide v) { return static_cast<std::uint64_t>(v) & mask_of(t); }

/// The sum of a product and a number, rounded to double so that rounding it to float once more rounds once.
double fused(double a, double b, double c) {
  const double p = a * b;  // exact: 48 bits
  const double s = p + c;
  if (!std::isfinite(s)) return s;
  const double back = s - p, rest = (p - (s - back)) + (c - back);
  if (rest == 0 || (std::bit_cast<std::uint64_t>(s) & 1) != 0) return s;
  return std::nextafter(s, rest > 0 ? HUGE_VAL : -HUGE_VAL);
}

/// Near 0 by its series; else by bisection, on erfc where 1 - |y| says more than |y|.
double inverse_erf(double y) {
  constexpr double kHalfRootPi = 0.88622692545275801365;
  if (!(std::fabs(y) < 1)) return std::fabs(y) == 1 ? y * HUGE_VAL : NAN;
  if (std::fabs(y) < 1e-3) {
    const double x = kHalfRootPi * y;
    return x + x * x * x / 3 + 7.0 / 30 * x * x * x * x * x;
  }
  double low = 0, high = 7;
  const double a = std::fabs(y);
  for (int i = 0; i < 90; ++i) {
    const double x = (low + high) / 2;
    (a < 0.5 ? std::erf(x) < a : std::erfc(x) > 1 - a) ? low = x : high = x;
  }
  return std::copysign((low + high) / 2, y);
}

double smaller(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  return a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
}

double real_function(Op op, double a, double b, double c) {
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:
      return a / b;
    case Op::Rem:
      return std::fmod(a, b);
    case Op::Min:
      return smaller(a, b);
    case Op::Max:
      return -smaller(-a, -b);
    case Op::Fmin:
      return std::fmin(a, b);
    case Op::Fmax:
      return std::fmax(a, b);
    case Op::Neg:
      return -a;
    case Op::Abs:
      return std::fabs(a);
    case Op::Fma:
      return fused(a, b, c);
    case Op::Sqrt:
      return std::sqrt(a);
    case Op::Rsqrt:
      return 1 / std::sqrt(a);
    case Op::Recip:
      return 1 / a;
    case Op::Exp:
    case Op::FastExp:
      return std::exp(a);
    case Op::Exp2:
    case Op::FastExp2:
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
      return inverse_erf(a);
    case Op::Floor:
      return std::floor(a);
    case Op::Ceil:
      return std::ceil(a);
    case Op::Round:
      return std::nearbyint(a);
    case Op::Trunc:
      return std::trunc(a);
    case Op::Sign:
      return std::isnan(a) || a == 0 ? a : std::copysign(1.0, a);
    case Op::Pow:
      return std::pow(a, b);
    case Op::Atan2:
      return std::atan2(a, b);
    default:
      MT_ICE("no reference for a function");
  }
}

bool compared(Op op, bool less, bool equal, bool ordered) {
  switch (op) {
    case Op::Eq:
      return ordered && equal;
    case Op::Ne:
      return !ordered || !equal;
    case Op::Lt:
      return ordered && less;
    case Op::Le:
      return ordered && (less || equal);
    case Op::Gt:
      return ordered && !less && !equal;
    case Op::Ge:
      return ordered && !less;
    default:
      MT_ICE("no reference for a comparison");
  }
}

Wide shifted_right(Wide a, std::uint64_t by, int bits) {
  return by >= static_cast<std::uint64_t>(bits) ? (a < 0 ? -1 : 0) : a >> by;
}

Wide whole_function(Op op, DType t, Wide a, Wide b) {
  const int bits = bits_of(t);
  const auto by = static_cast<std::uint64_t>(b) & mask_of(t);
  const auto pattern = static_cast<std::uint32_t>(a);
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return static_cast<Wide>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    case Op::Div:
      return b == 0 ? 0 : a / b;
    case Op::Rem:
      return b == 0 ? 0 : a % b;
    case Op::Min:
      return a < b ? a : b;
    case Op::Max:
      return a < b ? b : a;
    case Op::Neg:
      return -a;
    case Op::Abs:
      return a < 0 ? -a : a;
    case Op::And:
      return a & b;
    case Op::Or:
      return a | b;
    case Op::Xor:
      return a ^ b;
    case Op::Not:
      return ~a;
    case Op::Shl:
      return by >= static_cast<std::uint64_t>(bits) ? 0 : static_cast<Wide>(static_cast<std::uint64_t>(a) << by);
    case Op::Shr:
      return shifted_right(a, by, bits);
    case Op::Popcount:
      return std::popcount(pattern);
    case Op::Clz:
      return std::countl_zero(pattern);
    case Op::Ctz:
      return std::countr_zero(pattern);
    default:
      MT_ICE("no reference for an integer op");
  }
}

Wanted converted(DType from, DType to, std::uint64_t bits) {
  if (is_float(from)) {
    const double v = real_of(from, bits);
    if (is_float(to)) return {.real = true, .value = v};
    if (to == DType::Bool) return {.bits = v != 0 || std::isnan(v)};
    if (std::isnan(v)) return {};
    const double high = std::ldexp(1.0, bits_of(to) - is_signed(to)), low = is_signed(to) ? -high : 0;
    const double whole = std::trunc(v);
    if (whole >= high) return {.bits = mask_of(to) >> is_signed(to)};
    if (whole <= low) return {.bits = is_signed(to) ? 1ull << (bits_of(to) - 1) : 0};
    return {.bits = wrapped(to, static_cast<Wide>(whole))};
  }
  const Wide v = from == DType::Bool ? static_cast<Wide>(bits & 1) : whole_of(from, bits);
  if (to == DType::Bool) return {.bits = v != 0};
  // An integer becomes an f32 first; rounded here, since 64 bits are more than a double holds.
  if (is_float(to)) return {.real = true, .value = static_cast<double>(static_cast<float>(v))};
  return {.bits = wrapped(to, v)};
}

double rounded(DType t, double v) {
  const auto f = static_cast<float>(v);
  if (t == DType::F32) return static_cast<double>(f);
  return static_cast<double>(t == DType::F16 ? f16_to_f32(f32_to_f16(f)) : bf16_to_f32(f32_to_bf16(f)));
}
/// Distance between neighbouring f32 around `v`.
double unit(double v) {
  int exponent = 0;
  std::frexp(v, &exponent);
  return std::ldexp(1.0, std::max(exponent - 24, -149));
}

}  // namespace

Wanted wanted(Op op, DType on, DType to, const Operands& in) {
  if (op == Op::Select) return {.bits = (in[0] & 1) != 0 ? in[1] : in[2]};
  if (op == Op::Bitcast) return {.bits = in[0]};
  if (op == Op::Cast) return converted(on, to, in[0]);
  const bool predicate = info(op).type == TypeRule::Pred;
  if (is_float(on)) {
    const double a = real_of(on, in[0]), b = real_of(on, in[1]), c = real_of(on, in[2]);
    if (predicate) return {.bits = compared(op, a < b, a == b, !std::isnan(a) && !std::isnan(b))};
    return {.real = true, .either_zero = op == Op::Fmin || op == Op::Fmax, .value = real_function(op, a, b, c)};
  }
  const Wide a = on == DType::Bool ? static_cast<Wide>(in[0] & 1) : whole_of(on, in[0]);
  const Wide b = on == DType::Bool ? static_cast<Wide>(in[1] & 1) : whole_of(on, in[1]);
  if (predicate) return {.bits = compared(op, a < b, a == b, true)};
  return {.bits = wrapped(to, whole_function(op, on, a, b))};
}

Judgement judge(const Wanted& wanted, DType to, std::uint64_t got, double ulp) {
  if (!wanted.real) return {got == wanted.bits, 0};
  const double g = real_of(to, got), w = wanted.value;
  if (std::isnan(w) || std::isnan(g)) return {std::isnan(w) && std::isnan(g), 0};
  if (w == 0) return {g == 0 && (wanted.either_zero || std::signbit(g) == std::signbit(w)), 0};
  if (ulp == 0) {
    const double r = rounded(to, w);
    return {g == r && std::signbit(g) == std::signbit(r), 0};
  }
  const double slack = std::isinf(w) ? 0 : ulp * unit(w);
  const double low = rounded(to, w - slack), high = rounded(to, w + slack);
  Judgement j{low <= g && g <= high, 0};
  if (to != DType::F32 || std::isinf(w)) return j;
  // Beyond the largest number the next one would be 2^128.
  const double shown = std::isinf(g) ? std::copysign(0x1p128, g) : g;
  j.ulps = std::isinf(g) && rounded(to, w) == g ? 0 : std::fabs(shown - w) / unit(w);
  j.good = j.ulps <= ulp || (std::isinf(g) && rounded(to, w) == g);
  return j;
}

}  // namespace mt
