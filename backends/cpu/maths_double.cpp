// The rarer functions, in double inside a function of their own: f32 results are then right to the last bit or so.
#include "backends/cpu/maths.h"
#include "backends/cpu/num.h"
#include "mt/base/error.h"

namespace mt::cpu {
namespace {

constexpr double kLn2 = 0.6931471805599453, kLog2E = 1.4426950408889634, kPi = 3.141592653589793;
constexpr int kChunk = 32;  // elements of one call at most

struct Exponential {
  Num less_one, power;  // e^r - 1 and 2^k, r small; e^x = 2^k (1 + less_one)
};
/// For |x| up to 700.
Exponential exp_parts(const Num& x) {
  const Rounded k = round_fast(x * kLog2E);
  const Num r = fma(k.value, -2.3190468138462996e-17, fma(k.value, -kLn2, x));
  const Num p =
      poly(r, {0.5000000000000003, 0.1666666666664673, 0.04166666666658362, 0.008333333355002697, 0.0013888888933845569,
               0.00019841206213768743, 2.4801499057860726e-05, 2.7626498735446235e-06, 2.7629432136899545e-07});
  return {fma(r * r, p, r), power_of_two(k.bits)};
}
Num exp_double(const Num& x) {
  const Exponential e = exp_parts(clamp(x, -700, 700));
  return fma(e.less_one, e.power, e.power);
}
Num expm1_double(const Num& x) {
  const Exponential e = exp_parts(clamp(x, -700, 700));
  return fma(e.less_one, e.power, e.power - 1.0);
}

/// log(m) = 2 s (1 + z P(z)) with s = (m - 1) / (m + 1), z = s^2, for numerator and denominator of s.
Num log_series(const Num& numerator, const Num& denominator) {
  const Num s = numerator / denominator, z = s * s;
  const Num p = poly(z, {0.3333333333333335, 0.19999999999941415, 0.14285714314565687, 0.11111105431887704,
                         0.09091451739220828, 0.07665630664445088, 0.07311401113467564});
  return fma(s * z, p, s) * 2.0;
}
struct Split {
  Num e, m;
};
Split split(const Num& x) {
  const Num base{x.w, Writer::integer(El::I64, 0x3fe6a09e667f3bcd, x.r.n)};  // sqrt(1/2)
  const Num shifted = x.bits() - base;
  const Num fraction{x.w, Writer::integer(El::I64, 0xfffffffffffff, x.r.n)};
  const Num k = ashr(shifted, 52);
  return {{x.w, x.w->cast("sitofp", k.r, El::F64)}, ((shifted & fraction) + base).reals()};
}
Num log_edges(const Num& x, const Num& r) {
  const double inf = __builtin_inf();
  const Num zero = select(x == 0.0, -inf, select(x == inf, inf, r));
  return select(x < 0.0, __builtin_nan(""), select(is_nan(x), x, zero));
}
Num log_double(const Num& x) {
  const Split s = split(x);
  return log_edges(x, fma(s.e, kLn2, log_series(s.m - 1.0, s.m + 1.0)));
}
/// log(1 + y), exact for small y too.
Num log1p_double(const Num& y) {
  const Num x = y + 1.0;
  const Split s = split(x);
  const Num near = (y > -0.29) & (y < 0.41);
  const Num series = log_series(select(near, y, s.m - 1.0), select(near, y + 2.0, s.m + 1.0));
  return select(near, series, log_edges(x, fma(s.e, kLn2, series)));
}

/// atan(a) for a >= 0: of a, (a - 1) / (a + 1) or -1 / a, whichever is small.
Num atan_double(const Num& a) {
  const Num middle = a > 0.41421356237309503, large = a > 2.414213562373095;
  const Num top = select(large, -1.0, select(middle, a - 1.0, a));
  const Num bottom = select(large, a, select(middle, a + 1.0, a.like(1)));
  const Num t = top / bottom, z = t * t;
  const Num p = poly(z, {-0.3333333333327041, 0.19999999952220543, -0.14285708327289096, 0.11110827181097181,
                         -0.09084224254245092, 0.0760582993943671, -0.06031606571874666, 0.03302730179615875});
  const Num offset = select(large, kPi / 2, select(middle, kPi / 4, a.like(0)));
  return offset + fma(t * z, p, t);
}

struct Turn {
  Num sine, cosine, quadrant;  // of r in [-pi/4, pi/4]; quadrant as i64
};
/// r = x - k pi/2 in double with pi/2 in two parts: the rest is right to 2^-60 for |x| below 2^30.
Turn turn(const Num& x) {
  const Rounded k = round_fast(x * (2 / kPi));
  const Num r = fma(k.value, -6.123233995736766e-17, fma(k.value, -kPi / 2, x)), z = r * r;
  const Num s = poly(z, {-0.1666666664060998, 0.008333329266393628, -0.0001983929602474372, 2.7179388989829632e-06});
  const Num c = poly(z, {0.041666666622500265, -0.0013888883698609702, 2.4799500741317352e-05, -2.72083553777819e-07});
  return {fma(r * z, s, r), fma(z * z, c, fma(z, -0.5, r.like(1))), k.bits};
}
Num odd(const Num& k) { return Num{k.w, k.w->cast("trunc", k.r, El::I1)}; }
/// Changes the sign of x where bit 1 of k is set.
Num with_sign_of(const Num& x, const Num& k) {
  const Num sign = shl(lshr(k, 1), 63);
  return {x.w, x.w->bitcast(x.w->bin("xor", x.bits().r, sign.r), El::F64, x.r.n)};
}
Num sin_double(const Num& x) {
  const Turn t = turn(x);
  return with_sign_of(select(odd(t.quadrant), t.cosine, t.sine), t.quadrant);
}
Num cos_double(const Num& x) {
  const Turn t = turn(x);
  return with_sign_of(select(odd(t.quadrant), t.sine, t.cosine), t.quadrant + 1.0);
}
Num tan_double(const Num& x) {
  const Turn t = turn(x);
  const Num swap = odd(t.quadrant);
  return select(swap, -t.cosine, t.sine) / select(swap, t.sine, t.cosine);
}

/// C's pow: 1 for x = 1 or y = 0 whatever the other, NaN for a negative base with a fraction as exponent.
Num pow_double(const Num& x, const Num& y) {
  const Num a = abs(x), inf = x.like(__builtin_inf());
  const Split s = split(a);
  const Num log2 = fma(log_series(s.m - 1.0, s.m + 1.0), kLog2E, s.e);
  const Num raw = select(a == 0.0, -inf, select(a == __builtin_inf(), inf, log2));
  const Num product = select(a == 1.0, select(is_nan(y), y, 0.0), raw * y);
  const Num size = select(is_nan(x), x, exp_double(clamp(product, -900, 900) * kLn2));
  const Num half = y * 0.5, whole = y.call("llvm.rint").test("fcmp oeq", y);
  const Num odd_y = whole & half.call("llvm.rint").test("fcmp une", half);
  const Num negative{x.w, x.w->cmp("icmp slt", x.bits().r, Writer::zero(El::I64, x.r.n))};
  const Num turned = select(negative & odd_y, -size, size);
  const Num refused = (x < 0.0) & Num{x.w, x.w->bin("xor", whole.r, Writer::integer(El::I1, 1, x.r.n))} & (a < inf);
  const Num r = select(refused, __builtin_nan(""), turned);
  return select((y == 0.0) | (x == 1.0), 1.0, r);
}

Num atan2_double(const Num& y, const Num& x) {
  const Num a = abs(y), b = abs(x);
  const Num both = (a == __builtin_inf()) & (b == __builtin_inf());
  const Num ratio = select(both, 1.0, a / b);
  const Num q = select(a == 0.0, select(is_nan(x), x, 0.0), atan_double(ratio));
  const Num left{x.w, x.w->cmp("icmp slt", x.bits().r, Writer::zero(El::I64, x.r.n))};
  return copysign(select(left, kPi - q, q), y);
}

/// Fits in w = -log(1 - x^2) (the form is M. Giles, "Approximating the erfinv function", 2010).
Num erfinv_double(const Num& x) {
  const Num w = -log_double((1.0 - x) * (1.0 + x));
  const Num centre =
      poly(w - 2.5, {1.5014093517781624, 0.24664027717677242, -0.004177325416554607, -0.0012527095244140689,
                     0.00021826467509025908, -4.994431523280451e-06, -3.4265642603769825e-06, 4.780593849754692e-07,
                     1.6567237674189857e-08, -1.0752319677180104e-08, 4.294338265874654e-10, 1.166231126481562e-10});
  const Num tail =
      poly(sqrt(w) - 3.0, {2.832976802616572, 1.0016752461134155, 0.009445237596665719, -0.0076429635135673475,
                           0.005688307221622334, -0.0035660463443259547, 0.0014730742833452297, -0.00012195301798020226,
                           -0.0002746440562610071, 0.00016164814309298396, -3.090806958096086e-05});
  const Num r = x * select(w < 5.0, centre, tail);
  return select(abs(x) == 1.0, x * __builtin_inf(), r);
}

Num evaluate(Op op, const Num& x, const Num& y) {
  const Num a = abs(x);
  switch (op) {
    case Op::Expm1:
      return select(x == 0.0, x, expm1_double(x));
    case Op::Log1p:
      return select(x == 0.0, x, log1p_double(x));
    case Op::Sin:
      return select(x == 0.0, x, sin_double(x));
    case Op::Cos:
      return cos_double(x);
    case Op::Tan:
      return select(x == 0.0, x, tan_double(x));
    case Op::Asin:
      return copysign(atan_double(a / sqrt((1.0 - a) * (1.0 + a))), x);
    case Op::Acos:
      return 2.0 * atan_double(sqrt((1.0 - x) / (1.0 + x)));
    case Op::Atan:
      return copysign(atan_double(a), x);
    case Op::Sinh: {
      const Num e = expm1_double(clamp(a, 0, 200));
      return copysign((e + e / (e + 1.0)) * 0.5, x);
    }
    case Op::Cosh: {
      const Num e = exp_double(clamp(a, 0, 200));
      return (e + 1.0 / e) * 0.5;
    }
    case Op::Asinh: {
      const Num z = a * a;
      return copysign(select(a < __builtin_inf(), log1p_double(a + z / (sqrt(z + 1.0) + 1.0)), a), x);
    }
    case Op::Acosh: {
      const Num t = x - 1.0;
      return select(x < 1.0, __builtin_nan(""), log1p_double(t + sqrt(fma(t, t, t + t))));
    }
    case Op::Atanh:
      return copysign(log1p_double((a + a) / (1.0 - a)) * 0.5, x);
    case Op::Erfinv:
      return erfinv_double(x);
    case Op::Pow:
      return pow_double(x, y);
    case Op::Atan2:
      return atan2_double(x, y);
    default:
      throw Error(std::string("the cpu target has no ") + std::string(info(op).name));
  }
}

/// Angles too large for two parts of pi/2 go to libm one by one.
void turn_far(Writer& w, const char* function, const Ref& x, const Ref& result) {
  const int n = x.n;
  const Num size = abs({&w, x});
  const Num far = (size > 1073741824.0) & (size < size.like(__builtin_inf()));
  const std::string some = w.label("far"), head = w.label("next"), body = w.label("one"), done = w.label("near");
  const El word = El::I32;
  const Ref bits = n == 1 ? w.cast("zext", far.r, word) : w.bitcast(far.r, word, 1);
  const Ref from = w.stack(El::F64, n), left = w.stack(word, 1), none = Writer::integer(word, 0);
  w.branch(w.cmp("icmp ne", bits, none), some, done);
  w.place(some);
  w.set(from, x);
  w.set(left, bits);
  w.place(head);
  const Ref now = w.get(left, word, 1);
  w.branch(w.cmp("icmp ne", now, none), body, done);
  w.place(body);
  const Ref lane = w.cast("zext", w.call_as("llvm.cttz.i32", word, 1, {now, Writer::integer(El::I1, 1)}), El::I64);
  const Ref value = w.load(El::F64, 1, w.element(from, El::F64, lane), 8);
  w.store(w.call_as(function, El::F64, 1, {value}), w.element(result, El::F64, lane), 8);
  w.set(left, w.bin("and", now, w.bin("sub", now, Writer::integer(word, 1))));
  w.jump(head);
  w.place(done);
}

std::string define(Writer& w, Op op, int n, bool two) {
  const std::string name = fmt::format("mt_{}_{}", info(op).name, n);
  if (!w.first_use(name)) return name;
  Writer inner;
  const Ref a{"%a", El::F32, n}, b{"%b", El::F32, n};
  const Num x = widened({&inner, a}), y = two ? widened({&inner, b}) : x;
  Num r = evaluate(op, x, y);
  if (op == Op::Sin || op == Op::Cos || op == Op::Tan) {
    const char* libm = op == Op::Sin ? "sin" : op == Op::Cos ? "cos" : "tan";
    const Ref slot = inner.stack(El::F64, n);
    inner.set(slot, select(abs(x) < __builtin_inf(), r, __builtin_nan("")).r);
    turn_far(inner, libm, x.r, slot);
    r = {&inner, inner.get(slot, El::F64, n)};
    if (w.first_use(libm))
      w.outside(fmt::format("declare double @{}(double) nounwind willreturn memory(none)\n", libm));
  }
  const Ref out = narrowed(r).r;
  inner.line(fmt::format("ret {} {}", type_name(out), out.name));
  const std::string type = type_name(El::F32, n);
  w.outside(
      "\n" +
      inner.function(fmt::format("internal {} @{}({} %a{})", type, name, type, two ? ", " + type + " %b" : ""), "#1"));
  return name;
}

}  // namespace

Ref maths_double(Writer& w, Op op, const std::vector<Ref>& args) {
  const int n = args[0].n, chunk = n < kChunk ? n : kChunk;
  const std::string name = define(w, op, chunk, args.size() > 1);
  return w.call_pieces(name, El::F32, chunk, args);
}

}  // namespace mt::cpu
