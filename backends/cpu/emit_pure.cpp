// Pure ops: the same code serves scalars and vectors of any length.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "backends/cpu/emitter.h"
#include "backends/cpu/maths.h"
#include "mt/base/error.h"
#include "mt/ir/edit.h"

namespace mt::cpu {
namespace {

/// The number in a constant operand ("5", "splat (i32 5)").
std::optional<std::int64_t> number_in(const Ref& r) {
  if (r.name[0] == '%' || r.name[0] == '<') return std::nullopt;
  if (r.name == "zeroinitializer") return 0;
  std::string_view text = r.name;
  if (const auto space = text.rfind(' '); space != text.npos) text = text.substr(space + 1);
  std::int64_t v = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), v).ec != std::errc{}) return std::nullopt;
  return v;
}

}  // namespace

bool Emitter::is_pure(const Inst& i) const { return info(i.op).effect == Effect::Pure; }

void Emitter::pure(const Inst& i) {
  const ValueId out = i.out[0];
  const Type t = type(out);
  const Shape& s = shapes_.of(out);
  Val v{t, s.pattern, {}};
  if (s.varying()) {
    std::vector<Ref> args;
    for (const ValueId a : i.in) args.push_back(wide(a));
    v.ref = apply(i, args, kLanes);
  } else {
    const El el = el_of(t.dtype);
    if (s.recipe == Recipe::Constant) {
      v.ref = Writer::integer(el, s.known_base);
    } else if (s.recipe == Recipe::Keep) {
      v.ref = base(i.in[static_cast<std::size_t>(s.operand)]);
    } else {
      std::vector<Ref> args;
      for (const ValueId a : i.in) args.push_back(base(a));
      v.ref = apply(i, args, 1);
    }
    if (s.adjust && s.recipe != Recipe::Constant) v.ref = w_.bin("add", v.ref, Writer::integer(el, s.adjust));
  }
  define(out, std::move(v));
}

Ref Emitter::apply(const Inst& i, const std::vector<Ref>& args, int n) {
  const Type t = type(i.out[0]);
  const int lanes = t.lanes;
  const auto index = [&](const Ref& r) { return r.el == El::I64 ? w_.cast("trunc", r, el_of(t.dtype)) : r; };
  switch (i.op) {
    case Op::Const:
      return Writer::constant(t.dtype, i.bits, lanes);
    case Op::Param:
      return params_[static_cast<std::size_t>(i.index)];
    case Op::GroupId:
      return index(group_id_[static_cast<std::size_t>(i.index)]);
    case Op::SimdId:
      return index(simd_);
    case Op::ThreadId:
      return index(w_.bin("shl", simd_, Writer::integer(El::I64, 5)));
    case Op::LaneId:
      return Writer::zero(el_of(t.dtype));
    case Op::Splat:
      return n == 1 ? w_.splat(args[0], lanes) : repeat(args[0], lanes);
    case Op::Pack: {
      if (lanes == 1) return args[0];
      Ref all = args[0];
      if (n == 1) {
        all = {"poison", args[0].el, lanes};
        for (int l = 0; l < lanes; ++l) all = w_.insert(all, args[static_cast<std::size_t>(l)], l);
        return all;
      }
      return interleave(args);
    }
    case Op::Extract: {
      const int from = type(i.in[0]).lanes;
      if (n == 1 || from == 1) return from == 1 ? args[0] : w_.extract(args[0], i.index);
      return every(args[0], from, i.index);
    }
    case Op::VectorReduce: {
      const Type from = type(i.in[0]);
      Ref sum;
      for (int e = 0; e < from.lanes; ++e) {
        const Ref part = n == 1 ? w_.extract(args[0], e) : every(args[0], from.lanes, e);
        sum = e ? combine(i.combine, from.dtype, sum, part) : part;
      }
      return sum;
    }
    case Op::Select: {
      const int per = type(i.in[0]).lanes;
      const bool spread = args[0].n > 1 && per == 1;
      return w_.select(spread ? repeat(args[0], lanes) : args[0], args[1], args[2]);
    }
    case Op::Cast: {
      const DType from = type(i.in[0]).dtype;
      const Shape& s = shapes_.of(i.in[0]);
      // Widened from the lane with the largest value, so that a base below zero stays below zero.
      if (n == 1 && s.pattern > kUniform && is_unsigned(from) && size_of(t.dtype) > size_of(from))
        return base_index(i.in[0]);
      return convert(args[0], from, t.dtype);
    }
    case Op::Bitcast:
      return w_.bitcast(args[0], el_of(t.dtype), args[0].n);
    default:
      return arithmetic(i.op, type(i.in[0]).dtype, args);
  }
}

Ref Emitter::arithmetic(Op op, DType t, std::vector<Ref> args) {
  if (!is_float(t)) return int_op(op, t, args);
  if (t == DType::F32) return float_op(op, args);
  for (Ref& a : args) a = to_f32(a, t);
  const Ref r = float_op(op, args);
  return info(op).type == TypeRule::Pred ? r : from_f32(r, t);
}

Ref Emitter::float_op(Op op, const std::vector<Ref>& args) {
  const Ref& a = args[0];
  switch (op) {
    case Op::Add:
      return w_.bin("fadd", a, args[1]);
    case Op::Sub:
      return w_.bin("fsub", a, args[1]);
    case Op::Mul:
      return w_.bin("fmul", a, args[1]);
    case Op::Div:
      return w_.bin("fdiv", a, args[1]);
    case Op::Rem:
      return w_.bin("frem", a, args[1]);
    case Op::Min:
    case Op::Max:
      return extreme(op == Op::Max, a, args[1]);
    case Op::Fmin:
    case Op::Fmax:
      return number(op == Op::Fmax, a, args[1]);
    case Op::Neg:
      return w_.neg(a);
    case Op::Abs:
      return w_.call("llvm.fabs", args);
    case Op::Fma:
      return w_.call("llvm.fma", args);
    case Op::Eq:
      return w_.cmp("fcmp oeq", a, args[1]);
    case Op::Ne:
      return w_.cmp("fcmp une", a, args[1]);
    case Op::Lt:
      return w_.cmp("fcmp olt", a, args[1]);
    case Op::Le:
      return w_.cmp("fcmp ole", a, args[1]);
    case Op::Gt:
      return w_.cmp("fcmp ogt", a, args[1]);
    case Op::Ge:
      return w_.cmp("fcmp oge", a, args[1]);
    default:
      return maths(w_, op, args);
  }
}

/// Spelled out: LLVM 19 narrows llvm.minimum of widened halves to halves, and then loses NaN and the sign of zero.
Ref Emitter::extreme(bool larger, const Ref& a, const Ref& b) {
  if (w_.avx512 && a.n % 16 == 0) {
    return w_.select(w_.cmp("fcmp uno", a, b), w_.bin("fadd", a, b), number(larger, a, b));
  }
  const Ref one = w_.select(w_.cmp(larger ? "fcmp ogt" : "fcmp olt", a, b), a, b);
  // Equal operands differ only where they are zeros of two signs.
  const Ref bits = w_.bin(larger ? "and" : "or", w_.bitcast(a, El::I32, a.n), w_.bitcast(b, El::I32, b.n));
  const Ref settled = w_.select(w_.cmp("fcmp oeq", a, b), w_.bitcast(bits, El::F32, a.n), one);
  return w_.select(w_.cmp("fcmp uno", a, b), w_.bin("fadd", a, b), settled);
}

/// The other one where one is NaN.
Ref Emitter::number(bool larger, const Ref& a, const Ref& b) {
  if (w_.avx512 && a.n % 16 == 0) {
    // vrangeps also orders the zeros.
    const Ref how = Writer::integer(El::I32, larger ? 5 : 4), none{"zeroinitializer", El::F32, 16};
    return w_.call_pieces("llvm.x86.avx512.mask.range.ps.512", El::F32, 16, {a, b},
                          {how, none, Writer::integer(El::I16, -1), Writer::integer(El::I32, 4)});
  }
  const Ref one = w_.select(w_.cmp(larger ? "fcmp ogt" : "fcmp olt", b, a), b, a);  // a where b is NaN
  return w_.select(w_.cmp("fcmp uno", a, a), b, one);
}

Ref Emitter::int_op(Op op, DType t, const std::vector<Ref>& args) {
  const Ref& a = args[0];
  const bool is_sgn = is_signed(t);
  const Ref no = Writer::integer(El::I1, 0);
  const auto with_flag = [&](const char* name) {
    const std::string mangled = fmt::format("{}.{}{}", name, a.n == 1 ? "" : fmt::format("v{}", a.n), name_of(a.el));
    return w_.call_as(mangled, a.el, a.n, {a, no});
  };
  const auto width = [&] { return Writer::integer(a.el, bits_of(t), a.n); };
  switch (op) {
    case Op::Add:
      return w_.bin("add", a, args[1]);
    case Op::Sub:
      return w_.bin("sub", a, args[1]);
    case Op::Mul:
      return w_.bin("mul", a, args[1]);
    case Op::Div:
    case Op::Rem:
      return integer_division(op == Op::Rem, t, a, args[1]);
    case Op::Min:
      return w_.call(is_sgn ? "llvm.smin" : "llvm.umin", args);
    case Op::Max:
      return w_.call(is_sgn ? "llvm.smax" : "llvm.umax", args);
    case Op::Neg:
      return w_.neg(a);
    case Op::Abs:
      return is_sgn ? with_flag("llvm.abs") : a;
    case Op::And:
      return w_.bin("and", a, args[1]);
    case Op::Or:
      return w_.bin("or", a, args[1]);
    case Op::Xor:
      return w_.bin("xor", a, args[1]);
    case Op::Not:
      return w_.bin("xor", a, Writer::integer(a.el, a.el == El::I1 ? 1 : -1, a.n));
    case Op::Shl:
    case Op::Shr: {
      const auto count = number_in(args[1]);
      const bool arithmetic_shift = op == Op::Shr && is_sgn;
      const char* name = op == Op::Shl ? "shl" : is_sgn ? "ashr" : "lshr";
      if (count && *count >= 0 && *count < bits_of(t)) return w_.bin(name, a, args[1]);
      if (arithmetic_shift)
        return w_.bin(name, a, w_.call("llvm.umin", {args[1], Writer::integer(a.el, bits_of(t) - 1, a.n)}));
      return w_.select(w_.cmp("icmp ult", args[1], width()), w_.bin(name, a, args[1]), Writer::zero(a.el, a.n));
    }
    case Op::Popcount:
      return w_.call("llvm.ctpop", args);
    case Op::Clz:
      return with_flag("llvm.ctlz");
    case Op::Ctz:
      return with_flag("llvm.cttz");
    case Op::Eq:
      return w_.cmp("icmp eq", a, args[1]);
    case Op::Ne:
      return w_.cmp("icmp ne", a, args[1]);
    case Op::Lt:
      return w_.cmp(is_sgn ? "icmp slt" : "icmp ult", a, args[1]);
    case Op::Le:
      return w_.cmp(is_sgn ? "icmp sle" : "icmp ule", a, args[1]);
    case Op::Gt:
      return w_.cmp(is_sgn ? "icmp sgt" : "icmp ugt", a, args[1]);
    case Op::Ge:
      return w_.cmp(is_sgn ? "icmp sge" : "icmp uge", a, args[1]);
    default:
      throw Error(fmt::format("[{}] the cpu target has no {} on {}; cast to f32 first", kernel_.name, info(op).name,
                              name_of(t)));
  }
}

/// x / 0 and x % 0 are 0; the smallest integer divided by -1 wraps.
Ref Emitter::integer_division(bool rem, DType t, const Ref& a, const Ref& b) {
  const bool sgn = is_signed(t);
  const char* name = rem ? (sgn ? "srem" : "urem") : (sgn ? "sdiv" : "udiv");
  const Ref nil = Writer::zero(a.el, a.n);
  if (const auto c = number_in(b)) {
    if (*c == 0) return nil;
    if (*c == -1 && sgn) return rem ? nil : w_.neg(a);
    return w_.bin(name, a, b);
  }
  const Ref by_zero = w_.cmp("icmp eq", b, nil);
  if (a.n > 1 && size_of(t) <= 4) {
    // The quotient of 32-bit integers is at least 2^-32 away from the next integer, far more than a double's rounding.
    const char* to = sgn ? "sitofp" : "uitofp";
    const Ref safe = w_.select(by_zero, Writer::integer(b.el, 1, b.n), b);
    const Ref q = w_.bin("fdiv", w_.cast(to, a, El::F64), w_.cast(to, safe, El::F64));
    // Through 64 bits: -2^31 / -1 is 2^31.
    const Ref whole = w_.cast("trunc", w_.cast("fptosi", q, El::I64), a.el);
    return w_.select(by_zero, nil, rem ? w_.bin("sub", a, w_.bin("mul", whole, b)) : whole);
  }
  Ref special = by_zero, other = nil;
  if (sgn) {
    const Ref minus = w_.cmp("icmp eq", b, Writer::integer(b.el, -1, b.n));
    special = w_.bin("or", by_zero, minus);
    if (!rem) other = w_.select(minus, w_.neg(a), nil);
  }
  const Ref safe = w_.select(special, Writer::integer(b.el, 1, b.n), b);
  return w_.select(special, other, w_.bin(name, a, safe));
}

Ref Emitter::to_f32(const Ref& a, DType from) {
  if (from == DType::F32) return a;
  if (from == DType::F16) return w_.cast("fpext", w_.bitcast(a, El::F16, a.n), El::F32);
  return w_.bitcast(w_.bin("shl", w_.cast("zext", a, El::I32), Writer::integer(El::I32, 16, a.n)), El::F32, a.n);
}

Ref Emitter::from_f32(const Ref& a, DType to) {
  if (to == DType::F32) return a;
  if (to == DType::F16) return w_.bitcast(w_.cast("fptrunc", a, El::F16), El::I16, a.n);
  if (options_.native_bf16 && a.n % kLanes == 0) return native_bf16(a);
  return rounded_bf16(a);
}

Ref Emitter::rounded_bf16(const Ref& a) {
  const auto i = [&](std::int64_t v) { return Writer::integer(El::I32, v, a.n); };
  const Ref u = w_.bitcast(a, El::I32, a.n);
  const Ref odd = w_.bin("and", w_.bin("lshr", u, i(16)), i(1));
  const Ref rounded = w_.bin("add", w_.bin("add", u, i(0x7fff)), odd);
  const Ref kept = w_.select(w_.cmp("fcmp uno", a, a), w_.bin("or", u, i(0x400000)), rounded);
  return w_.cast("trunc", w_.bin("lshr", kept, i(16)), El::I16);
}

/// By vcvtne2ps2bf16, which takes subnormals for zero: a vector that holds one is rounded by integer instructions.
Ref Emitter::native_bf16(const Ref& a) {
  constexpr int kSubnormal = 0x20, kHalf = kLanes / 2;
  Ref tiny;
  for (int from = 0; from < a.n; from += kHalf) {
    const Ref here = w_.call_as("llvm.x86.avx512.fpclass.ps.512", El::I1, kHalf,
                                {w_.slice(a, from, kHalf), Writer::integer(El::I32, kSubnormal)});
    tiny = from == 0 ? here : w_.bin("or", tiny, here);
  }
  const Ref slot = w_.stack(El::I16, a.n);
  const std::string slow = w_.label("subnormal"), fast = w_.label("normal"), done = w_.label("rounded");
  w_.branch(w_.cmp("icmp ne", w_.bitcast(tiny, El::I16, 1), Writer::integer(El::I16, 0)), slow, fast);
  w_.place(slow);
  w_.set(slot, rounded_bf16(a));
  w_.jump(done);
  w_.place(fast);
  std::vector<Ref> parts;
  for (int from = 0; from < a.n; from += kLanes)
    parts.push_back(w_.call_as("llvm.x86.avx512bf16.cvtne2ps2bf16.512", El::BF16, kLanes,
                               {w_.slice(a, from + kHalf, kHalf), w_.slice(a, from, kHalf)}));
  w_.set(slot, w_.bitcast(w_.join(parts), El::I16, a.n));
  w_.place(done);
  return w_.get(slot, El::I16, a.n);
}

/// Truncates; what is out of range becomes the nearest bound, NaN 0. (LLVM 19 takes llvm.fptosi.sat apart lane by
/// lane.)
Ref Emitter::saturate(const Ref& x, DType to) {
  const bool sgn = is_signed(to);
  const int width = bits_of(to);
  const auto real = [&](double v) { return Writer::f32(static_cast<float>(v), x.n); };
  const double low = sgn ? -std::ldexp(1.0, width - 1) : 0.0, high = std::ldexp(1.0, sgn ? width - 1 : width);
  if (width < 32) {
    const Ref up = w_.select(w_.cmp("fcmp olt", x, real(low)), real(low), x);
    const Ref down = w_.select(w_.cmp("fcmp ogt", up, real(high - 1)), real(high - 1), up);
    const Ref number = w_.select(w_.cmp("fcmp uno", x, x), real(0), down);
    return w_.cast("trunc", w_.cast("fptosi", number, El::I32), el_of(to));
  }
  const El el = el_of(to);
  const Ref most = Writer::integer(el, sgn ? (width == 32 ? INT32_MAX : INT64_MAX) : -1, x.n),
            nil = Writer::zero(el, x.n);
  const Ref raw = w_.cast(sgn ? "fptosi" : "fptoui", x, el);
  const Ref least = Writer::integer(el, width == 32 ? INT32_MIN : INT64_MIN, x.n);
  // The raw result is poison out of range, and never selected there.
  const Ref above = sgn ? w_.select(w_.cmp("fcmp olt", x, real(low)), least, raw)
                        : w_.select(w_.cmp("fcmp ogt", x, real(0)), raw, nil);
  const Ref r = w_.select(w_.cmp("fcmp oge", x, real(high)), most, above);
  return sgn ? w_.select(w_.cmp("fcmp uno", x, x), nil, r) : r;
}

Ref Emitter::convert(const Ref& a, DType from, DType to) {
  if (from == to) return a;
  const El el = el_of(to);
  if (is_float(from)) {
    const Ref x = to_f32(a, from);
    if (is_float(to)) return from_f32(x, to);
    if (to == DType::Bool) return w_.cmp("fcmp une", x, Writer::zero(El::F32, a.n));
    return saturate(x, to);
  }
  if (is_float(to)) {
    if (from == DType::Bool) return from_f32(w_.select(a, Writer::f32(1, a.n), Writer::zero(El::F32, a.n)), to);
    return from_f32(w_.cast(is_signed(from) ? "sitofp" : "uitofp", a, El::F32), to);
  }
  if (to == DType::Bool) return w_.cmp("icmp ne", a, Writer::zero(a.el, a.n));
  if (from != DType::Bool && size_of(to) <= size_of(from)) return w_.cast("trunc", a, el);
  return w_.cast(is_signed(from) ? "sext" : "zext", a, el);
}

Ref Emitter::combine(Combine c, DType t, const Ref& a, const Ref& b) {
  if (c == Combine::Exchange) return b;
  return arithmetic(op_of(c), t, {a, b});
}

}  // namespace mt::cpu
