#include <cmath>
#include <limits>
#include <optional>

#include "mt/faults/rows.h"

namespace mt::detail {
namespace {

bool is_pair(const Kernel&, const Inst& i) {
  return is_one_of(i.op, {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem, Op::Min, Op::Max, Op::Xor, Op::Shl, Op::Shr,
                          Op::Pow, Op::Atan2, Op::Fmin, Op::Fmax});
}
bool is_bits(const Kernel& k, const Inst& i) {
  return is_one_of(i.op, {Op::And, Op::Or}) && type_of(k, i).dtype != DType::Bool;
}
bool is_unary(const Kernel&, const Inst& i) {
  return info(i.op).arity == 1 && info(i.op).type == TypeRule::Same && info(i.op).effect == Effect::Pure;
}
bool is_fma(const Kernel&, const Inst& i) { return i.op == Op::Fma; }
bool is_maths(const Kernel& k, const Inst& i) {
  return is_float(type_of(k, i).dtype) && (i.op == Op::Div || info(i.op).ulp > 0);
}
/// A min or max of floats whose operand `n` may be a NaN: it is no constant.
bool may_lose_nan(const Kernel& k, const Inst& i, std::size_t n) {
  if (!is_one_of(i.op, {Op::Min, Op::Max}) || !is_float(type_of(k, i).dtype)) return false;
  const Inst* def = k.def(i.in[n]);
  if (def && def->op == Op::Splat) def = k.def(def->in[0]);
  return !def || def->op != Op::Const;
}

bool orders_operands(const Kernel&, const Inst& i) {
  return is_one_of(i.op,
                   {Op::Sub, Op::Div, Op::Rem, Op::Shl, Op::Shr, Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Pow, Op::Atan2});
}

/// The op that is easily written in its place.
std::optional<Op> neighbour(Op op) {
  static constexpr Op kPairs[][2] = {
      {Op::Add, Op::Sub},     {Op::Sub, Op::Add},          {Op::Mul, Op::Add},      {Op::Div, Op::Mul},
      {Op::Rem, Op::Div},     {Op::Min, Op::Max},          {Op::Max, Op::Min},      {Op::And, Op::Or},
      {Op::Or, Op::And},      {Op::Xor, Op::Or},           {Op::Shl, Op::Shr},      {Op::Shr, Op::Shl},
      {Op::Exp, Op::Exp2},    {Op::Exp2, Op::Exp},         {Op::Log, Op::Log2},     {Op::Log2, Op::Log},
      {Op::Log10, Op::Log},   {Op::Log1p, Op::Log},        {Op::Expm1, Op::Exp},    {Op::Sin, Op::Cos},
      {Op::Cos, Op::Sin},     {Op::Tan, Op::Sin},          {Op::Sinh, Op::Cosh},    {Op::Cosh, Op::Sinh},
      {Op::Tanh, Op::Atan},   {Op::Asin, Op::Acos},        {Op::Acos, Op::Asin},    {Op::Atan, Op::Asin},
      {Op::Asinh, Op::Sinh},  {Op::Acosh, Op::Asinh},      {Op::Erf, Op::Tanh},     {Op::Sqrt, Op::Rsqrt},
      {Op::Rsqrt, Op::Sqrt},  {Op::Recip, Op::Rsqrt},      {Op::Floor, Op::Trunc},  {Op::Ceil, Op::Round},
      {Op::Trunc, Op::Floor}, {Op::Round, Op::Trunc},      {Op::Neg, Op::Abs},      {Op::Abs, Op::Neg},
      {Op::Clz, Op::Ctz},     {Op::Ctz, Op::Clz},          {Op::FastExp, Op::Exp2}, {Op::Fmin, Op::Fmax},
      {Op::Fmax, Op::Fmin},   {Op::FastExp2, Op::FastExp},
  };
  for (const auto& [from, to] : kPairs)
    if (from == op) return to;
  return std::nullopt;
}

bool is_int_const(const Kernel& k, const Inst& i) { return i.op == Op::Const && is_int(type_of(k, i).dtype); }
bool is_float_const(const Kernel& k, const Inst& i) { return i.op == Op::Const && is_float(type_of(k, i).dtype); }
double value_of(const Kernel& k, const Inst& i) { return mt::value_of(type_of(k, i).dtype, i.bits); }
bool is_ordinary(const Kernel& k, const Inst& i) {
  return is_float_const(k, i) && std::isfinite(value_of(k, i)) && value_of(k, i) != 0;
}
void set_value(const Place& p, double v) { p.inst().bits = bits_of(p.type().dtype, v); }
double constant(const Place& p) { return value_of(p.kernel, p.inst()); }
/// Adds to an integer, modulo its width.
void step(const Place& p, std::int64_t by) {
  const DType t = p.type().dtype;
  const std::uint64_t all = bits_of(t) == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_of(t)) - 1;
  p.inst().bits = (p.inst().bits + static_cast<std::uint64_t>(by)) & all;
}

DType other_sign(DType t) {
  switch (t) {
    case DType::I8:
      return DType::U8;
    case DType::U8:
      return DType::I8;
    case DType::I16:
      return DType::U16;
    case DType::U16:
      return DType::I16;
    case DType::I32:
      return DType::U32;
    case DType::U32:
      return DType::I32;
    case DType::I64:
      return DType::U64;
    default:
      return DType::I64;
  }
}
/// Bits of f32 that a narrower float has no room for.
std::uint64_t lost_bits(DType narrow) { return narrow == DType::BF16 ? 0xffff : 0x1fff; }

void append(std::vector<Fault>& to, std::vector<Fault> more) { to.insert(to.end(), more.begin(), more.end()); }

std::vector<Fault> operand_faults() {
  return {
      {"first_operand", "an operation is missing: its first operand is the result",
       [](const Kernel& k, const Inst& i) { return is_pair(k, i) || is_bits(k, i); },
       [](const Place& p) { p.forward(p.in(0)); }},
      {"second_operand", "an operation is missing: its second operand is the result",
       [](const Kernel& k, const Inst& i) { return is_pair(k, i) || is_bits(k, i); },
       [](const Place& p) { p.forward(p.in(1)); }},
      {"swap_operands", "operands of an operation that does not commute are swapped", orders_operands,
       [](const Place& p) { std::swap(p.inst().in[0], p.inst().in[1]); }},
      {"other_op", "a similar operation or function in place of the right one",
       [](const Kernel&, const Inst& i) { return neighbour(i.op).has_value(); },
       [](const Place& p) { p.inst().op = *neighbour(p.op()); }},
      {"no_function", "a function of one operand is missing", is_unary, [](const Place& p) { p.forward(p.in(0)); }},
      {"no_product", "a multiply-add leaves the product out", is_fma, [](const Place& p) { p.forward(p.in(2)); }},
      {"no_addend", "a multiply-add leaves the addend out", is_fma,
       [](const Place& p) {
         p.become(of(Op::Mul, {p.in(0), p.in(1)}));
       }},
      {"no_factor", "a multiply-add leaves the first factor out", is_fma,
       [](const Place& p) {
         p.become(of(Op::Add, {p.in(1), p.in(2)}));
       }},
      {"other_factor", "a multiply-add leaves the second factor out", is_fma,
       [](const Place& p) {
         p.become(of(Op::Add, {p.in(0), p.in(2)}));
       }},
      {"stride_above", "an integer is multiplied by one more",
       [](const Kernel& k, const Inst& i) { return i.op == Op::Mul && is_int(type_of(k, i).dtype); },
       [](const Place& p) {
         const ValueId one = p.like(p.in(1), 1);
         p.set_operand(1, p.before().binary(Op::Add, p.in(1), one));
       }},
      {"loses_nan", "min or max by a comparison: a NaN in the first operand is lost",
       [](const Kernel& k, const Inst& i) { return may_lose_nan(k, i, 0); },
       [](const Place& p) {
         const Op compare = p.op() == Op::Min ? Op::Lt : Op::Gt;
         const ValueId wins = p.before().binary(compare, p.in(0), p.in(1));
         p.become(of(Op::Select, {wins, p.in(0), p.in(1)}));
       }},
      {"loses_second_nan", "min or max by a comparison: a NaN in the second operand is lost",
       [](const Kernel& k, const Inst& i) { return may_lose_nan(k, i, 1); },
       [](const Place& p) {
         const Op compare = p.op() == Op::Min ? Op::Lt : Op::Gt;
         const ValueId wins = p.before().binary(compare, p.in(1), p.in(0));
         p.become(of(Op::Select, {wins, p.in(1), p.in(0)}));
       }},
  };
}

std::vector<Fault> precision_faults() {
  return {
      {"inexact", "a function is off by one part in 10,000", is_maths,
       [](const Place& p) {
         const ValueId exact = p.copy();
         p.become(of(Op::Mul, {exact, p.like(exact, 1.0001)}));
       }},
      {"half_up", "a tie rounds up, not to even", [](const Kernel&, const Inst& i) { return i.op == Op::Round; },
       [](const Place& p) {
         const ValueId half = p.like(p.in(0), 0.5);
         p.become(of(Op::Floor, {p.before().binary(Op::Add, p.in(0), half)}));
       }},
      {"cuts", "a conversion to f16 or bf16 cuts bits off in place of rounding",
       [](const Kernel& k, const Inst& i) {
         return i.op == Op::Cast && operand_type(k, i).dtype == DType::F32 && is_float(type_of(k, i).dtype);
       },
       [](const Place& p) {
         Builder b = p.before();
         const ValueId bits = b.bitcast(p.in(0), DType::U32);
         const ValueId mask = b.constant(p.kernel.type(bits), 0xffffffffu & ~lost_bits(p.type().dtype));
         p.set_operand(0, b.bitcast(b.binary(Op::And, bits, mask), DType::F32));
       }},
      {"rounds", "a conversion to an integer rounds in place of cutting",
       [](const Kernel& k, const Inst& i) {
         return i.op == Op::Cast && operand_type(k, i).dtype == DType::F32 && is_int(type_of(k, i).dtype);
       },
       [](const Place& p) { p.set_operand(0, p.before().unary(Op::Round, p.in(0))); }},
      {"other_sign", "a conversion takes a signed integer for an unsigned one, or the other way round",
       [](const Kernel& k, const Inst& i) {
         const DType from = operand_type(k, i).dtype, to = type_of(k, i).dtype;
         if (i.op != Op::Cast || !is_int(from) || !(is_float(to) || (is_int(to) && bits_of(to) > bits_of(from))))
           return false;
         return is_signed(from) || bits_of(from) < 32;  // sizes and indices stay below 2^31 in any test
       },
       [](const Place& p) { p.set_operand(0, p.before().bitcast(p.in(0), other_sign(p.kernel.type(p.in(0)).dtype))); }},
  };
}

std::vector<Fault> constant_faults() {
  return {
      {"constant_above", "an integer constant is one more", is_int_const, [](const Place& p) { step(p, 1); }},
      {"constant_below", "an integer constant is one less", is_int_const, [](const Place& p) { step(p, -1); }},
      {"constant_doubled", "a float constant is twice as large", is_ordinary,
       [](const Place& p) { set_value(p, 2 * constant(p)); }},
      {"constant_near", "a float constant is off by one part in 1,000", is_ordinary,
       [](const Place& p) { set_value(p, 1.001 * constant(p)); }},
      {"zero_is_one", "a float constant is 1 in place of 0",
       [](const Kernel& k, const Inst& i) { return is_float_const(k, i) && value_of(k, i) == 0; },
       [](const Place& p) { set_value(p, 1); }},
      {"finite", "a float constant is the largest number in place of infinity",
       [](const Kernel& k, const Inst& i) { return is_float_const(k, i) && std::isinf(value_of(k, i)); },
       [](const Place& p) {
         set_value(p, std::copysign(static_cast<double>(std::numeric_limits<float>::max()), constant(p)));
       }},
      {"infinity_is_zero", "a float constant is 0 in place of infinity",
       [](const Kernel& k, const Inst& i) { return is_float_const(k, i) && std::isinf(value_of(k, i)); },
       [](const Place& p) { set_value(p, 0); }},
  };
}

}  // namespace

std::vector<Fault> arithmetic_faults() {
  std::vector<Fault> all = operand_faults();
  append(all, precision_faults());
  append(all, constant_faults());
  return all;
}

}  // namespace mt::detail
