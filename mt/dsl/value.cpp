#include "mt/dsl/value.h"

#include <fmt/format.h>

namespace mt::detail {
namespace {

[[noreturn]] void fail(Here here, const std::string& what) {
  throw Error(fmt::format("{}: [{}] {}", to_string(Loc(here)), trace().kernel.name, what));
}

Loc loc_of(const Kernel& kernel, ValueId v) {
  const Inst* made = kernel.def(v);
  return made ? made->loc : Loc();
}

/// Brings operands to one number of lanes.
void unify(std::vector<ValueId*> operands, std::string_view op, Here here) {
  int widest = 1;
  for (const ValueId* v : operands) widest = std::max(widest, lanes(*v));
  for (ValueId* v : operands) {
    if (lanes(*v) != 1 && lanes(*v) != widest)
      fail(here, fmt::format("{} takes vectors of one width, not {} and {}; load both with the same number of lanes",
                             op, lanes(*v), widest));
    *v = splat_to(*v, widest, here);
  }
}

}  // namespace

int lanes(ValueId v) { return trace().kernel.type(v).lanes; }

ValueId literal(DType dtype, double value, Here here) {
  return trace().value({.op = Op::Const, .bits = bits_of(dtype, value)}, {dtype}, here);
}
ValueId literal_int(DType dtype, std::int64_t value, Here here) {
  if (is_unsigned(dtype) && value < 0)
    fail(here, fmt::format("{} is not a {}; write a signed value or cast<>", value, name_of(dtype)));
  const std::uint64_t mask = bits_of(dtype) == 64 ? ~0ull : (1ull << bits_of(dtype)) - 1;
  return trace().value({.op = Op::Const, .bits = static_cast<std::uint64_t>(value) & mask}, {dtype}, here);
}

ValueId splat_to(ValueId v, int n, Here here) {
  if (lanes(v) == n) return v;
  if (lanes(v) != 1) fail(here, fmt::format("a vector of {} lanes does not fit where {} are wanted", lanes(v), n));
  return trace().value({.op = Op::Splat, .in = {v}}, {trace().kernel.type(v).dtype, static_cast<std::uint8_t>(n)},
                       here);
}

ValueId unary(Op op, ValueId a, Here here) {
  return trace().value({.op = op, .in = {a}}, trace().kernel.type(a), here);
}

ValueId logical_not(ValueId a) {
  Trace& t = trace();
  return t.builder.value({.op = Op::Not, .in = {a}, .loc = loc_of(t.kernel, a)}, t.kernel.type(a));
}

ValueId logical_not_var(ValueId var) {
  Trace& t = trace();
  return logical_not(t.builder.value({.op = Op::Get, .in = {var}, .loc = loc_of(t.kernel, var)}, t.kernel.type(var)));
}

ValueId binary(Op op, ValueId a, ValueId b, Here here) {
  unify({&a, &b}, info(op).name, here);
  const Type t = trace().kernel.type(a);
  return trace().value({.op = op, .in = {a, b}}, info(op).type == TypeRule::Pred ? t.with(DType::Bool) : t, here);
}

ValueId ternary(Op op, ValueId a, ValueId b, ValueId c, Here here) {
  if (op == Op::Select) {
    unify({&b, &c}, "select", here);
    if (lanes(a) != 1) unify({&a, &b, &c}, "select", here);
    return trace().value({.op = op, .in = {a, b, c}}, trace().kernel.type(b), here);
  }
  unify({&a, &b, &c}, info(op).name, here);
  return trace().value({.op = op, .in = {a, b, c}}, trace().kernel.type(a), here);
}

ValueId cast(ValueId v, DType to, Here here) {
  const Type t = trace().kernel.type(v);
  return t.dtype == to ? v : trace().value({.op = Op::Cast, .in = {v}}, t.with(to), here);
}

ValueId bitcast(ValueId v, DType to, Here here) {
  const Type t = trace().kernel.type(v);
  if (size_of(t.dtype) != size_of(to))
    fail(here, fmt::format("bitcast from {} to {} changes the size", name_of(t.dtype), name_of(to)));
  return trace().value({.op = Op::Bitcast, .in = {v}}, t.with(to), here);
}

ValueId extract(ValueId v, int lane, Here here) {
  const Type t = trace().kernel.type(v);
  if (lane < 0 || lane >= t.lanes) fail(here, fmt::format("lane {} of a vector of {}", lane, t.lanes));
  return t.lanes == 1 ? v : trace().value({.op = Op::Extract, .index = lane, .in = {v}}, t.scalar(), here);
}

ValueId vector_reduce(Combine c, ValueId v, Here here) {
  const Type t = trace().kernel.type(v);
  return t.lanes == 1 ? v : trace().value({.op = Op::VectorReduce, .combine = c, .in = {v}}, t.scalar(), here);
}

ValueId pack(const std::vector<ValueId>& values, Here here) {
  const std::size_t n = values.size();
  if (n != 1 && n != 2 && n != 4 && n != 8) fail(here, fmt::format("a vector has 1, 2, 4 or 8 lanes, not {}", n));
  if (n == 1) return values[0];
  return trace().value({.op = Op::Pack, .in = values},
                       {trace().kernel.type(values[0]).dtype, static_cast<std::uint8_t>(n)}, here);
}

ValueId make_var(ValueId first, Here here) {
  return trace().value({.op = Op::Var, .in = {first}}, trace().kernel.type(first), here);
}
ValueId get_var(ValueId var, Here here) {
  return trace().value({.op = Op::Get, .in = {var}}, trace().kernel.type(var), here);
}
void set_var(ValueId var, ValueId value, Here here) { trace().effect({.op = Op::Set, .in = {var, value}}, here); }

}  // namespace mt::detail
