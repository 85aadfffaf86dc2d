// The functions that models use most, in f32. Polynomials are minimax fits (Lawson iteration) of the forms named at
// each; the rest is in maths_double.cpp.
#include "backends/cpu/maths.h"

#include "backends/cpu/num.h"
#include "mt/base/error.h"

namespace mt::cpu {
namespace {

constexpr double kLog2E = 1.4426950408889634, kLn2Hi = 0.693145751953125, kLn2Lo = 1.42860682030941723e-6;

/// p * 2^k in two steps, so that results below the normal range round once and those beyond become infinite.
Num scaled(const Num& p, const Num& k) {
  const Num half = ashr(k, 1);
  return p * power_of_two(half) * power_of_two(k - half);
}

/// p * 2^k for a whole number k, rounded once, by vscalefps: k may leave the range of exponents.
Num scalef(const Num& p, const Num& k) {
  const Ref none{"zeroinitializer", El::F32, 16};
  return {p.w, p.w->call_pieces("llvm.x86.avx512.mask.scalef.ps.512", El::F32, 16, {p.r, k.r},
                                {none, Writer::integer(El::I16, -1), Writer::integer(El::I32, 4)})};
}
bool has_scalef(const Num& x) { return x.w->avx512 && x.r.n % 16 == 0; }

/// x = k ln 2 + r; e^x = 2^k (1 + r + r^2 P(r)).
Num exp_scalef(const Num& input) {
  const Num x = clamp(input, -105, 89.5);
  const Num t = fma(x, kLog2E, x.like(12582912.0)), k = t - 12582912.0;
  const Num r = fma(k, -kLn2Lo, fma(k, -kLn2Hi, x));
  const Num p = poly(r, {1, 1, 0.4999999343211448, 0.16666520399002763, 0.0416683907865838, 0.008368745112610024,
                         0.0013814540025967358});
  return scalef(p, k);
}

/// x = k ln 2 + r; e^x = 2^(k-1) (2 + 2 r (1 + r P(r))): 2^128 is no f32. Below the normal range by way of 2^100, so
/// that the result rounds once.
Num exp_f32(const Num& input) {
  if (has_scalef(input)) return exp_scalef(input);
  const Num x = select(input < -105.0, -105.0, input);
  const Num t = fma(x, kLog2E, x.like(12582912.0)), k = t - 12582912.0;
  const Num r = fma(k, -kLn2Lo, fma(k, -kLn2Hi, x));
  const Num p = poly(r, {2, 2, 1.000000002858110, 0.33333333533523846, 0.08333291356285812, 0.0166665682115775,
                         0.0027869088468074006, 0.00039817808545});
  const Num tiny = input < -86.0;
  const auto bits = [&](std::int64_t exponent) { return Num{x.w, Writer::integer(El::I32, exponent << 23, x.r.n)}; };
  // k in the low bits of t moves to the exponent; the bits of the constant above it fall off.
  const Num power = (shl(t.bits(), 23) + select(tiny, bits(226), bits(126))).reals();
  const Num y = p * power;
  return select(input > 88.72283905206835, __builtin_inf(), select(tiny, y * 0x1p-100, y));
}

/// 2^floor(t) * P(t - floor(t)), P to one part in 2^18. vscalefps takes what is infinite or out of range as it should,
/// and vreduceps leaves 0 of it.
Num fast_power(const Num& t) {
  const Ref none{"zeroinitializer", El::F32, 16}, all = Writer::integer(El::I16, -1),
                                                  current = Writer::integer(El::I32, 4);
  constexpr int kPastFloor = 1 | 8;
  const Num r{t.w, t.w->call_pieces("llvm.x86.avx512.mask.reduce.ps.512", El::F32, 16, {t.r},
                                    {Writer::integer(El::I32, kPastFloor), none, all, current})};
  return scalef(
      poly(r, {1.0000025933706844, 0.6930038344703271, 0.24144275688959105, 0.05201146061355359, 0.013534167914436963}),
      t);
}

/// Of t = x log2(e), |t| / 2^25 is lost.
Num fast_exp_f32(const Num& x) { return has_scalef(x) ? fast_power(x * kLog2E) : exp_f32(x); }

/// 2^r = 1 + r P(r).
Num exp2_f32(const Num& input) {
  const Num x = clamp(input, -152, 129);
  const Rounded k = round_fast(x);
  const Num r = x - k.value;
  const Num p = poly(r, {0.6931471805532088, 0.24022650936279055, 0.05550410932535792, 0.009618053726149342,
                         0.0013333450394227787, 0.00015462613322369677, 1.5311220455288877e-05});
  if (has_scalef(x)) return scalef(fma(r, p, r.like(1)), k.value);
  return scaled(fma(r, p, r.like(1)), k.bits);
}

/// x = 2^e m with m in [sqrt(1/2), sqrt(2)), f = m - 1; log m = f + (-f^2/2 + f^3 P(f)), of which `rest` is the
/// bracket.
struct Logarithm {
  Num e, f, rest;
};
Logarithm log_parts(const Num& input) {
  const Num small = input < 1.17549435e-38;
  const Num x = select(small, input * 8388608.0, input);
  const Num shifted = x.bits() - 0x3f3504f3;  // sqrt(1/2)
  const Num k = ashr(shifted, 23);
  const Num m = ((shifted & Num{x.w, Writer::integer(El::I32, 0x7fffff, x.r.n)}) + 0x3f3504f3).reals();
  const Num whole{x.w, x.w->cast("sitofp", k.r, El::F32)};
  const Num f = m - 1.0, z = f * f;
  const Num p = poly(
      f, {0.3333333291448035, -0.24999966681015787, 0.20000032214363048, -0.16669406222696162, 0.1428701989761053,
          -0.12425519940166259, 0.11011411307510632, -0.10791327787352215, 0.10745473302084539, -0.06158283009095083});
  return {whole - select(small, whole.like(23), whole.like(0)), f, fma(z * f, p, z * -0.5)};
}
/// log of 0, infinities, negative numbers and NaN.
Num log_edges(const Num& x, const Num& r) {
  const double inf = __builtin_inf();
  const Num finite = select(x == inf, inf, r);
  const Num zero = select(x == 0.0, -inf, finite);
  return select(x < 0.0, __builtin_nan(""), select(is_nan(x), x, zero));
}
Num log_f32(const Num& x) {
  const Logarithm l = log_parts(x);
  return log_edges(x, fma(l.e, kLn2Hi, l.f + fma(l.e, kLn2Lo, l.rest)));
}
/// log m times 1 / log base; f is split so that its product with the factor's high part is exact.
Num log_base(const Num& x, double factor_hi, double factor_lo, double unit_hi, double unit_lo) {
  const Logarithm l = log_parts(x);
  const Num high = (l.f.bits() & Num{x.w, Writer::integer(El::I32, -4096, x.r.n)}).reals();
  const Num low = (l.f - high) + l.rest;
  const Num small = fma(low, factor_hi, fma(high + low, factor_lo, l.e * unit_lo));
  return log_edges(x, fma(l.e, unit_hi, fma(high, factor_hi, small)));
}

/// Small: x + x^3 P(x^2). Large: 1 - 2 / (e^2x + 1).
Num tanh_f32(const Num& x) {
  const Num a = abs(x), z = x * x;
  const Num p = poly(z, {-0.3333333098516688, 0.13333212043760695, -0.053947434850810674, 0.021704023611090112,
                         -0.008184921449431642, 0.0021493418621480833});
  const Num small = fma(x * z, p, x);
  const Num large = 1.0 - 2.0 / (exp_f32(a + a) + 1.0);
  return select(is_nan(x), x, copysign(select(a < 0.625, small, large), x));
}

/// Small: x P(x^2). Large: 1 - e^Q(|x|), Q a fit of log(erfc).
Num erf_f32(const Num& x) {
  const Num a = abs(x), z = x * x;
  const Num small =
      x * poly(z, {1.1283791670631589, -0.37612638483806426, 0.11283782747152743, -0.026865445818213506,
                   0.005221074868267052, -0.0008484711296230169, 0.00011270543323445073, -9.680132922919617e-06});
  const Num b = clamp(a, 1, 4);
  const Num q = poly(b, {5.272601510931874e-05, -1.1289683192915643, -0.6343709291859315, -0.10724256404685718,
                         0.024506612572927498, -0.003960470423257728, 0.00039555263478667794, -1.8118820427365955e-05});
  const Num large = 1.0 - exp_f32(q);
  return select(a < 1.0, small, select(is_nan(x), x, copysign(large, x)));
}

}  // namespace

Ref maths(Writer& w, Op op, const std::vector<Ref>& args) {
  const Num x{&w, args[0]};
  switch (op) {
    case Op::Sqrt:
      return sqrt(x).r;
    case Op::Rsqrt:
      return (1.0 / sqrt(x)).r;
    case Op::Recip:
      return (1.0 / x).r;
    case Op::Exp:
      return exp_f32(x).r;
    case Op::FastExp:
      return fast_exp_f32(x).r;
    case Op::Exp2:
      return exp2_f32(x).r;
    case Op::FastExp2:
      return (has_scalef(x) ? fast_power(x) : exp2_f32(x)).r;
    case Op::Log:
      return log_f32(x).r;
    case Op::Log2:
      return log_base(x, 1.4425048828125, 0.00019015807638340738, 1, 0).r;
    case Op::Log10:
      return log_base(x, 0.434295654296875, -1.1723936231937117e-06, 0.30102920532226562, 7.903417155649e-07).r;
    case Op::Tanh:
      return tanh_f32(x).r;
    case Op::Erf:
      return erf_f32(x).r;
    case Op::Floor:
      return x.call("llvm.floor").r;
    case Op::Ceil:
      return x.call("llvm.ceil").r;
    case Op::Trunc:
      return x.call("llvm.trunc").r;
    case Op::Round:
      return x.call("llvm.roundeven").r;
    case Op::Sign: {
      const Num one = copysign(x.like(1), x);
      return select(abs(x) > 0.0, one, x).r;
    }
    default:
      return maths_double(w, op, args);
  }
}

}  // namespace mt::cpu
