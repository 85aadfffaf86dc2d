#include "mt/passes/algebra.h"

#include <bit>
#include <cmath>

#include "mt/passes/rewrite.h"

namespace mt {
namespace {

class Algebra : public Rewriter {
 public:
  using Rewriter::Rewriter;

 private:
  bool visit(InstId id) override {
    Inst& i = k_.at(id);
    if (info(i.op).effect != Effect::Pure || i.in.size() < 2 || i.op == Op::Pack || i.op == Op::Fma) return true;
    if (i.op == Op::Select) return !select(id);
    if (info(i.op).commutes && constant(i.in[0]) && !constant(i.in[1])) {
      std::swap(i.in[0], i.in[1]);
      changed_ = true;
    }
    const DType t = k_.type(i.in[0]).dtype;
    return is_float(t) ? !real(id, t) : !whole(id, t);
  }

  // Each of these answers whether the instruction was replaced and is to be dropped.

  bool be(InstId id, ValueId v) {
    replace(k_.at(id).out[0], v);
    return true;
  }
  bool be_constant(InstId id, std::uint64_t bits) {
    make_constant(id, bits);
    return false;
  }
  bool become(InstId id, Op op, ValueId a, ValueId b) {
    Inst& i = k_.at(id);
    i.op = op;
    i.in = {a, b};
    changed_ = true;
    return false;
  }

  bool select(InstId id) {
    const Inst& i = k_.at(id);
    if (k_.type(i.out[0]) != k_.type(i.in[0]) || k_.type(i.out[0]).dtype != DType::Bool) return false;
    return constant(i.in[1]) == 1u && constant(i.in[2]) == 0u ? be(id, i.in[0]) : false;
  }

  bool real(InstId id, DType t) {
    const Inst& i = k_.at(id);
    const auto c = constant(i.in[1]);
    if (!c) return false;
    const double v = value_of(t, *c);
    const bool zero = v == 0, negative = std::signbit(v);
    if ((i.op == Op::Mul || i.op == Op::Div) && v == 1) return be(id, i.in[0]);
    if (i.op == Op::Sub && zero && !negative) return be(id, i.in[0]);
    if (i.op == Op::Add && zero && negative) return be(id, i.in[0]);
    if (i.op == Op::Div) return divide(id, t, v);
    return false;
  }

  /// x / 2^n is x * 2^-n: both round the same number.
  bool divide(InstId id, DType t, double v) {
    int exponent = 0;
    const int limit = t == DType::F16 ? 14 : 126;
    if (std::fabs(std::frexp(v, &exponent)) != 0.5 || std::abs(exponent - 1) > limit) return false;
    const Type type = k_.type(k_.at(id).out[0]);
    const ValueId reciprocal = here().constant(type, bits_of(t, 1 / v));
    return become(id, Op::Mul, k_.at(id).in[0], reciprocal);
  }

  bool whole(InstId id, DType t) {
    const Inst& i = k_.at(id);
    const ValueId a = i.in[0], b = i.in[1];
    if (a == b && same(id)) return true;
    if (k_.at(id).op == Op::Const) return false;
    const auto c = constant(b);
    if (c && with_constant(id, t, *c)) return true;
    return k_.at(id).op == Op::Add || k_.at(id).op == Op::Mul ? gather(id, t) : false;
  }

  /// Both operands are the same value.
  bool same(InstId id) {
    const Inst& i = k_.at(id);
    switch (i.op) {
      case Op::Sub:
      case Op::Xor:
      case Op::Ne:
      case Op::Lt:
      case Op::Gt:
        return be_constant(id, 0);
      case Op::Eq:
      case Op::Le:
      case Op::Ge:
        return be_constant(id, 1);
      case Op::And:
      case Op::Or:
      case Op::Min:
      case Op::Max:
        return be(id, i.in[0]);
      default:
        return false;
    }
  }

  bool with_constant(InstId id, DType t, std::uint64_t c) {
    const Inst& i = k_.at(id);
    const ValueId a = i.in[0];
    const std::uint64_t ones = *evaluate(Op::Not, t, 0) & (t == DType::Bool ? 1 : ~0ull);
    switch (i.op) {
      case Op::Add:
      case Op::Sub:
      case Op::Shl:
      case Op::Shr:
        return c == 0 && be(id, a);
      case Op::Or:
        return c == 0 ? be(id, a) : c == ones && be_constant(id, ones);
      case Op::Xor:
        return c == 0 && be(id, a);
      case Op::And:
        return c == ones ? be(id, a) : c == 0 && be_constant(id, 0);
      case Op::Mul:
        return c == 1 ? be(id, a) : c == 0 && be_constant(id, 0);
      case Op::Div:
        if (c == 1) return be(id, a);
        return is_unsigned(t) && std::has_single_bit(c) && become(id, Op::Shr, a, number(id, std::countr_zero(c)));
      case Op::Rem:
        if (c == 1) return be_constant(id, 0);
        return is_unsigned(t) && std::has_single_bit(c) && become(id, Op::And, a, number(id, c - 1));
      case Op::Min:
        return is_unsigned(t) && c == 0 && be_constant(id, 0);
      case Op::Max:
        return is_unsigned(t) && c == 0 && be(id, a);
      case Op::Lt:
        return is_unsigned(t) && c == 0 && be_constant(id, 0);
      case Op::Ge:
        return is_unsigned(t) && c == 0 && be_constant(id, 1);
      default:
        return false;
    }
  }
  /// A constant of the type of the operands.
  ValueId number(InstId id, std::uint64_t bits) { return here().constant(k_.type(k_.at(id).in[0]), bits); }

  /// The constant that an add or a mul has on its right.
  std::optional<std::uint64_t> right_constant(ValueId v, Op op) const {
    const Inst* def = k_.def(v);
    return def && def->op == op ? constant(def->in[1]) : std::nullopt;
  }

  /// A new integer operation at this place, simplified in turn.
  ValueId made(Op op, ValueId a, ValueId b) {
    const InstId id = add_inst(k_, {.op = op, .in = {a, b}, .home = region_, .loc = here().loc}, {k_.type(a)});
    const ValueId out = k_.at(id).out[0];
    if (visit(id)) k_.at(region_).insts.push_back(id);
    return resolve(out);
  }

  bool gather(InstId id, DType t) {
    const Op op = k_.at(id).op;
    const ValueId a = k_.at(id).in[0], b = k_.at(id).in[1];
    if (const auto c = constant(b)) {
      if (const auto inner = right_constant(a, op))  // (x + c1) + c2, (x * c1) * c2
        return become(id, op, k_.def(a)->in[0], number(id, *evaluate(op, t, *inner, *c)));
      const auto sum = op == Op::Mul ? right_constant(a, Op::Add) : std::nullopt;
      if (!sum) return false;
      const ValueId scaled = made(Op::Mul, k_.def(a)->in[0], b);  // (x + c1) * c2
      return become(id, Op::Add, scaled, number(id, *evaluate(Op::Mul, t, *sum, *c)));
    }
    const auto left = op == Op::Add ? right_constant(a, op) : std::nullopt;
    const auto right = op == Op::Add ? right_constant(b, op) : std::nullopt;
    if (!left && !right) return false;
    const ValueId x = left ? k_.def(a)->in[0] : a, y = right ? k_.def(b)->in[0] : b;
    const ValueId sum = made(Op::Add, x, y);
    return become(id, Op::Add, sum, number(id, *evaluate(Op::Add, t, left.value_or(0), right.value_or(0))));
  }
};

}  // namespace

bool algebra(Kernel& kernel, const PipelineOptions&) { return Algebra(kernel).run(); }

}  // namespace mt
