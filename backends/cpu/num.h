// Operands with operators, so that a polynomial reads like one. Constants take the operand's element type and length.
#pragma once
#include <initializer_list>

#include "backends/cpu/text.h"

namespace mt::cpu {

struct Num {
  Writer* w;
  Ref r;

  Num like(double v) const {
    if (r.el == El::F32) return {w, Writer::f32(static_cast<float>(v), r.n)};
    if (r.el == El::F64) return {w, Writer::f64(v, r.n)};
    return {w, Writer::integer(r.el, static_cast<std::int64_t>(v), r.n)};
  }
  bool real() const { return r.el == El::F32 || r.el == El::F64; }
  Num op(const char* real_op, const char* int_op, const Num& o) const {
    return {w, w->bin(real() ? real_op : int_op, r, o.r)};
  }
  Num test(const char* name, const Num& o) const { return {w, w->cmp(name, r, o.r)}; }
  Num bits() const { return {w, w->bitcast(r, r.el == El::F32 ? El::I32 : El::I64, r.n)}; }
  Num reals() const { return {w, w->bitcast(r, r.el == El::I32 ? El::F32 : El::F64, r.n)}; }
  Num call(const char* name) const { return {w, w->call(name, {r})}; }
};

inline Num operator+(const Num& a, const Num& b) { return a.op("fadd", "add", b); }
inline Num operator-(const Num& a, const Num& b) { return a.op("fsub", "sub", b); }
inline Num operator*(const Num& a, const Num& b) { return a.op("fmul", "mul", b); }
inline Num operator/(const Num& a, const Num& b) { return a.op("fdiv", "sdiv", b); }
inline Num operator&(const Num& a, const Num& b) { return a.op("", "and", b); }
inline Num operator|(const Num& a, const Num& b) { return a.op("", "or", b); }
inline Num operator+(const Num& a, double b) { return a + a.like(b); }
inline Num operator-(const Num& a, double b) { return a - a.like(b); }
inline Num operator*(const Num& a, double b) { return a * a.like(b); }
inline Num operator+(double a, const Num& b) { return b.like(a) + b; }
inline Num operator-(double a, const Num& b) { return b.like(a) - b; }
inline Num operator*(double a, const Num& b) { return b.like(a) * b; }
inline Num operator/(double a, const Num& b) { return b.like(a) / b; }
inline Num operator-(const Num& a) { return {a.w, a.w->neg(a.r)}; }
inline Num operator<(const Num& a, const Num& b) { return a.test(a.real() ? "fcmp olt" : "icmp slt", b); }
inline Num operator<(const Num& a, double b) { return a < a.like(b); }
inline Num operator>(const Num& a, double b) { return a.like(b) < a; }
inline Num operator==(const Num& a, double b) { return a.test(a.real() ? "fcmp oeq" : "icmp eq", a.like(b)); }
inline Num fma(const Num& a, const Num& b, const Num& c) { return {a.w, a.w->call("llvm.fma", {a.r, b.r, c.r})}; }
inline Num fma(const Num& a, double b, const Num& c) { return fma(a, a.like(b), c); }
inline Num select(const Num& c, const Num& a, const Num& b) { return {a.w, a.w->select(c.r, a.r, b.r)}; }
inline Num select(const Num& c, const Num& a, double b) { return select(c, a, a.like(b)); }
inline Num select(const Num& c, double a, const Num& b) { return select(c, b.like(a), b); }
inline Num abs(const Num& a) { return a.call("llvm.fabs"); }
inline Num sqrt(const Num& a) { return a.call("llvm.sqrt"); }
inline Num copysign(const Num& a, const Num& sign) { return {a.w, a.w->call("llvm.copysign", {a.r, sign.r})}; }
inline Num is_nan(const Num& a) { return a.test("fcmp uno", a); }
/// Bounds that let NaN through.
inline Num clamp(const Num& a, double low, double high) {
  const Num up = select(a < low, low, a);
  return select(up > high, high, up);
}
inline Num widened(const Num& a) { return {a.w, a.w->cast("fpext", a.r, El::F64)}; }
inline Num narrowed(const Num& a) { return {a.w, a.w->cast("fptrunc", a.r, El::F32)}; }
inline Num shl(const Num& a, int k) { return {a.w, a.w->bin("shl", a.r, a.like(k).r)}; }
inline Num lshr(const Num& a, int k) { return {a.w, a.w->bin("lshr", a.r, a.like(k).r)}; }
inline Num ashr(const Num& a, int k) { return {a.w, a.w->bin("ashr", a.r, a.like(k).r)}; }
/// c0 + c1 x + c2 x^2 + ...
inline Num poly(const Num& x, std::initializer_list<double> c) {
  const double* k = c.end() - 1;
  Num p = x.like(*k);
  while (k-- != c.begin()) p = fma(p, x, x.like(*k));
  return p;
}

/// x rounded to an integer, and that integer's bits offset by `bias_bits`: adding 1.5 * 2^23 (2^52) leaves it in the
/// low bits. Right for |x| < 2^22 (2^51); garbage, but no trap, beyond.
struct Rounded {
  Num value, bits;
};
inline Rounded round_fast(const Num& x) {
  const double magic = x.r.el == El::F32 ? 12582912.0 : 6755399441055744.0;
  const Num t = x + magic;
  const Num raw = t.bits();
  const std::int64_t base = x.r.el == El::F32 ? 0x4b400000 : 0x4338000000000000;
  return {t - magic, raw - Num{raw.w, Writer::integer(raw.r.el, base, raw.r.n)}};
}
/// 2^k for an integer k in the normal range of the float type of the same width.
inline Num power_of_two(const Num& k) {
  return shl(k + (k.r.el == El::I32 ? 127.0 : 1023.0), k.r.el == El::I32 ? 23 : 52).reals();
}

}  // namespace mt::cpu
