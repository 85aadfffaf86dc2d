#include "backends/clike/spell.h"

#include <fmt/format.h>
#include <map>

#include "backends/clike/helpers.h"
#include "backends/clike/literal.h"
#include "mt/base/error.h"
#include "mt/ir/edit.h"

namespace mt::clike {
namespace {

const std::map<std::string_view, int> kLevels = {
    {"+", kSum},         {"-", kSum},         {"*", kProduct},    {"/", kProduct},     {"%", kProduct},
    {"<<", kShift},      {">>", kShift},      {"<", kRelational}, {"<=", kRelational}, {">", kRelational},
    {">=", kRelational}, {"==", kEquality},   {"!=", kEquality},  {"&", kBitAnd},      {"^", kBitXor},
    {"|", kBitOr},       {"&&", kLogicalAnd}, {"||", kLogicalOr}};

/// Level that an operand of `op` needs. Mixed bit operators, shifts and comparisons get parentheses that C does not
/// ask for but readers do.
int operand_level(std::string_view op, bool right) {
  const int own = kLevels.at(op);
  if (own == kSum || own == kProduct) return own + (right ? 1 : 0);
  if (own == kRelational || own == kEquality) return kSum;
  if (own == kLogicalAnd) return kEquality;
  if (own == kLogicalOr) return kLogicalAnd;
  return own == kShift || right ? kUnary : own;
}

Expr binary(std::string_view op, const Expr& a, const Expr& b) {
  const int level = kLevels.at(op);
  const bool same_bits = level <= kBitAnd && level >= kBitOr && a.level == level;
  std::string left = at_level(a, same_bits                             ? level
                                 : level <= kBitAnd && level >= kBitOr ? kUnary
                                                                       : operand_level(op, false));
  std::string right = at_level(b, operand_level(op, true));
  if (right.front() == '-' && level == kSum) right = "(" + right + ")";
  return {fmt::format("{} {} {}", left, op, right), level};
}
Expr unary(std::string_view op, const Expr& a) {
  std::string x = at_level(a, kUnary);
  if (x.front() == op.front()) x = "(" + x + ")";
  return {std::string(op) + x, kUnary};
}
Expr call(const std::string& name, const std::vector<Expr>& in) {
  std::string text = name + "(";
  for (std::size_t k = 0; k < in.size(); ++k) text += (k ? ", " : "") + in[k].text;
  return {text + ")", kPrimary};
}
Expr ternary(const Expr& c, const Expr& a, const Expr& b) {
  return {fmt::format("{} ? {} : {}", at_level(c, kTernary + 1), at_level(a, kTernary + 1), at_level(b, kTernary)),
          kTernary};
}

/// The table's shared spelling with operands put in.
Expr from_row(const std::string& row, const std::vector<Expr>& in) {
  if (row == "$0 ? $1 : $2") return ternary(in[0], in[1], in[2]);
  if (row.starts_with("$0 ") && row.ends_with(" $1")) return binary(row.substr(3, row.size() - 6), in[0], in[1]);
  if (row.ends_with("$0") && row.size() == 3) return unary(row.substr(0, 1), in[0]);
  MT_ICE("a spelling in the op table that is no call, operator or selection");
}

const Inst* constant(const Kernel& k, ValueId v) {
  const Inst* def = k.def(v);
  return def && def->op == Op::Const ? def : nullptr;
}

/// Division and shift by a constant for which C's operator is defined.
bool safe_by_constant(const Kernel& k, const Inst& inst) {
  const Type t = k.type(inst.in[0]);
  const Inst* c = constant(k, inst.in[1]);
  if (!c) return false;
  const std::int64_t v = int_value_of(t.dtype, c->bits);
  if (inst.op == Op::Shl || inst.op == Op::Shr) return c->bits < static_cast<std::uint64_t>(bits_of(t.dtype));
  return v != 0 && !(is_signed(t.dtype) && v == -1);
}

Expr select(const Kernel& k, const Inst& inst, const std::vector<Expr>& in) {
  if (k.type(inst.in[0]).lanes > 1) return call("select", {in[2], in[1], in[0]});
  return ternary(in[0], in[1], in[2]);
}

Expr cast(const Dialect& d, const Kernel& k, const Inst& inst, const Expr& x, Needs& needs) {
  const Type from = k.type(inst.in[0]), to = k.type(inst.out[0]);
  if (to.dtype == DType::Bool) {
    const Expr zero = from.lanes == 1 ? literal(d, from.dtype, 0, needs) : Expr{d.type(from) + "(0)", kPrimary};
    return binary("!=", x, zero);
  }
  if (from.dtype == DType::F32 && is_int(to.dtype)) {
    needs.insert({"to_int", to});
    return call("mt::" + to_int_name(to), {x});
  }
  return {d.convert(from, to, x.text, needs), kPrimary};
}

Expr logical(const Inst& inst, const std::vector<Expr>& in) {
  switch (inst.op) {
    case Op::And:
      return binary("&&", in[0], in[1]);
    case Op::Or:
      return binary("||", in[0], in[1]);
    case Op::Xor:
      return binary("!=", in[0], in[1]);
    default:
      return unary("!", in[0]);
  }
}

}  // namespace

std::string at_level(const Expr& e, int level) { return e.level >= level ? e.text : "(" + e.text + ")"; }

Expr spell(const Dialect& d, const Kernel& k, const Inst& inst, const std::vector<Expr>& in, Needs& needs) {
  const Type result = k.type(inst.out[0]);
  const Type t = inst.in.empty() ? result : k.type(inst.in[0]);
  const auto helper = [&](std::string_view name) {
    needs.insert({std::string(name), t});
    return call("mt::" + std::string(name), in);
  };
  switch (inst.op) {
    case Op::Const: {
      const Expr one = literal(d, result.dtype, inst.bits, needs);
      if (result.lanes == 1) return one;
      return {d.type(result) + "(" + one.text + ")", kPrimary};
    }
    case Op::Select:
      return select(k, inst, in);
    case Op::Cast:
      if (in.size() == 2) return {d.word(static_cast<DType>(inst.bits), true, in[0].text, in[1].text, needs), kPrimary};
      return cast(d, k, inst, in[0], needs);
    case Op::Bitcast:
      return {d.bitcast(t, result, in[0].text, needs), kPrimary};
    case Op::Splat:
      return {d.type(result) + "(" + in[0].text + ")", kPrimary};
    case Op::Pack: {
      std::vector<std::string> lanes;
      for (const Expr& e : in) lanes.push_back(e.text);
      if (result.lanes == 1) return {d.word(t.dtype, false, lanes[0], lanes[1], needs), kPrimary};
      return {d.vector_of(result, lanes, needs), kPrimary};
    }
    case Op::Extract:
      return {d.lane(at_level(in[0], kPrimary), inst.index), kPrimary};
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Not:
      if (t.dtype == DType::Bool) return logical(inst, in);
      return inst.op == Op::Not ? unary("~", in[0]) : from_row(info(inst.op).c, in);
    case Op::Div:
      if (is_float(t.dtype) || safe_by_constant(k, inst)) return binary("/", in[0], in[1]);
      return helper("div");
    case Op::Rem:
      if (is_float(t.dtype)) return call(d.function(inst.op, t), in);
      return safe_by_constant(k, inst) ? binary("%", in[0], in[1]) : helper("rem");
    case Op::Shl:
    case Op::Shr:
      if (safe_by_constant(k, inst)) return binary(inst.op == Op::Shl ? "<<" : ">>", in[0], in[1]);
      return helper(info(inst.op).name);
    case Op::Recip:
      return binary(
          "/", t.lanes == 1 ? literal(d, t.dtype, bits_of(t.dtype, 1.0), needs) : Expr{d.type(t) + "(1.0f)", kPrimary},
          in[0]);
    default:
      break;
  }
  const std::string row = info(inst.op).c ? info(inst.op).c : "";
  if (!row.empty() && row.find("($0") == std::string::npos) return from_row(row, in);
  const std::string name = d.function(inst.op, t);
  return name.empty() ? helper(info(inst.op).name) : call(name, in);
}

}  // namespace mt::clike
