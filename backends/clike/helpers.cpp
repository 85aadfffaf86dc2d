#include "backends/clike/helpers.h"

#include <fmt/format.h>
#include <cmath>

#include "backends/clike/literal.h"
#include "mt/base/error.h"
#include "mt/ir/edit.h"

namespace mt::clike {
namespace {

DType unsigned_of(DType t) { return t == DType::I64 ? DType::U64 : DType::U32; }

std::string number(const Dialect& d, DType t, std::uint64_t bits, Needs& needs) {
  return literal(d, t, bits, needs).text;
}

/// `return ...;` of the scalar helpers; empty where the name is not one of them.
std::string scalar_body(const Dialect& d, const Need& need, Needs& needs) {
  const DType t = need.type.dtype;
  const std::string T = d.type({t}), zero = is_int(t) ? number(d, t, 0, needs) : "0.0f";
  const DType u = is_int(t) ? unsigned_of(t) : DType::U32;
  const auto unsigned_cast = [&](const std::string& x) { return is_signed(t) ? d.convert({t}, {u}, x, needs) : x; };
  const auto negated = [&](const std::string& x) {
    return d.convert({u}, {t}, number(d, u, 0, needs) + " - " + unsigned_cast(x), needs);
  };
  const std::string width = number(d, u, static_cast<std::uint64_t>(bits_of(t)), needs);
  if (need.name == "div") {
    const std::string rest = fmt::format("y == {} ? {} : ", zero, zero);
    return is_signed(t) ? rest + "y == -1 ? " + negated("x") + " : x / y" : rest + "x / y";
  }
  if (need.name == "rem")
    return is_signed(t) ? fmt::format("y == {} || y == -1 ? {} : x % y", zero, zero)
                        : fmt::format("y == {} ? {} : x % y", zero, zero);
  if (need.name == "shl") return fmt::format("y < {} ? x << y : {}", width, zero);
  if (need.name == "shr") {
    const std::string last = fmt::format("x >> {}", bits_of(t) - 1);
    return fmt::format("{} < {} ? x >> y : {}", unsigned_cast("y"), width, is_signed(t) ? last : zero);
  }
  if (need.name == "abs") return fmt::format("x < {} ? {} : x", zero, negated("x"));
  if (need.name == "sign") return "x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x";
  if (need.name == "to_int") {
    const int bits = bits_of(t);
    const float high = std::ldexp(1.0f, is_signed(t) ? bits - 1 : bits), low = is_signed(t) ? -high : 0.0f;
    const std::uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    return fmt::format("x != x ? {} : x < {} ? {} : x >= {} ? {} : {}", number(d, t, 0, needs),
                       number(d, DType::F32, bits_of(DType::F32, static_cast<double>(low)), needs),
                       number(d, t, is_signed(t) ? 1ull << (bits - 1) : 0, needs),
                       number(d, DType::F32, bits_of(DType::F32, static_cast<double>(high)), needs),
                       number(d, t, is_signed(t) ? mask >> 1 : mask, needs), d.convert({DType::F32}, {t}, "x", needs));
  }
  return "";
}

std::string reduction(const Dialect& d, const Need& need, const HelperStyle& s, Needs& needs) {
  const DType t = need.type.dtype;
  const auto c = static_cast<Combine>(need.variant);
  const std::string T = d.type({t});
  needs.insert({"shuffles", {t}});
  if (need.name == "simd_reduce")
    return fmt::format(
        "// Every lane gets the combination over its simdgroup.\n"
        "{0}{1} simd_{2}({1} x) {{\n"
        "  for (int d = 16; d > 0; d /= 2) x = {3};\n"
        "  return x;\n"
        "}}\n",
        s.function, T, name_of(c),
        combined(d, c, t, "x", fmt::format(fmt::runtime(s.shuffle_xor), "x", "d"), s, needs));
  const bool exclusive = need.name == "simd_exclusive";
  std::string last = "  return x;\n";
  if (exclusive)
    last = fmt::format("  const {} before = {};\n  return lane == 0 ? {} : before;\n", T,
                       fmt::format(fmt::runtime(s.shuffle_up), "x", "1"), number(d, t, identity_of(c, t), needs));
  return fmt::format(
      "// The combination over lanes 0 to {2}.\n"
      "{0}{1} simd_{3}_{4}({1} x, unsigned lane) {{\n"
      "  for (int d = 1; d < 32; d *= 2) {{\n"
      "    const {1} before = {5};\n"
      "    if (lane >= unsigned(d)) x = {6};\n"
      "  }}\n{7}}}\n",
      s.function, T, exclusive ? "lane - 1" : "lane", exclusive ? "exclusive" : "inclusive", name_of(c),
      fmt::format(fmt::runtime(s.shuffle_up), "x", "d"), combined(d, c, t, "before", "x", s, needs), last);
}

}  // namespace

std::string combined(const Dialect& d, Combine c, DType t, const std::string& x, const std::string& y,
                     const HelperStyle& s, Needs& needs) {
  switch (c) {
    case Combine::Sum:
    case Combine::Prod: {
      const char op = c == Combine::Sum ? '+' : '*';
      if (!is_signed(t)) return fmt::format("{} {} {}", x, op, y);
      const Type u{unsigned_of(t)};
      return d.convert(u, {t}, fmt::format("{} {} {}", d.convert({t}, u, x, needs), op, d.convert({t}, u, y, needs)),
                       needs);
    }
    case Combine::Min:
    case Combine::Max: {
      const bool min = c == Combine::Min;
      if (!is_float(t)) return fmt::format("{}({}, {})", min ? s.min : s.max, x, y);
      needs.insert({min ? "min" : "max", {t}});
      return fmt::format("mt::{}({}, {})", min ? "min" : "max", x, y);
    }
    case Combine::And:
      return fmt::format("{} & {}", x, y);
    case Combine::Or:
      return fmt::format("{} | {}", x, y);
    case Combine::Xor:
      return fmt::format("{} ^ {}", x, y);
    case Combine::Exchange:
      return y;
  }
  MT_ICE("combination out of range");
}

std::string per_lane(const Dialect& d, const HelperStyle& style, const std::string& name, int arity, Type t,
                     Type result) {
  const std::string T = d.type(t);
  const char* letters[] = {"x", "y", "z"};
  std::string parameters;
  for (int k = 0; k < arity; ++k) parameters += fmt::format("{}{} {}", k ? ", " : "", T, letters[k]);
  std::vector<std::string> lanes;
  for (int lane = 0; lane < t.lanes; ++lane) {
    std::string arguments;
    for (int k = 0; k < arity; ++k) arguments += (k ? ", " : "") + d.lane(letters[k], lane);
    lanes.push_back(fmt::format("{}({})", name, arguments));
  }
  Needs none;
  return fmt::format("{}{} {}({}) {{\n  return {};\n}}\n", style.function, d.type(result), name, parameters,
                     d.vector_of(result, lanes, none));
}

std::string lanes_text(const std::vector<std::string>& lanes) {
  std::size_t size = 0;
  for (const std::string& l : lanes) size += l.size() + 2;
  return fmt::format("{}", fmt::join(lanes, size > 80 ? ",\n" : ", "));
}

std::string collective_name(const Inst& inst) {
  const std::string kind = inst.op == Op::SimdReduce ? "" : inst.exclusive ? "exclusive_" : "inclusive_";
  return fmt::format("simd_{}{}", kind, name_of(inst.combine));
}
std::string to_int_name(Type t) {
  return fmt::format("to_{}{}", name_of(t.dtype), t.lanes > 1 ? fmt::format("x{}", t.lanes) : "");
}

std::optional<std::string> common_helper(const Dialect& d, const Need& need, const HelperStyle& style, Needs& needs) {
  if (need.name.starts_with("simd_")) return reduction(d, need, style, needs);
  const std::string body = scalar_body(d, need, needs);
  if (body.empty()) return std::nullopt;
  const Type t = need.type;
  if (need.name == "to_int") {
    if (t.lanes == 1)
      return fmt::format("{}{} {}(float x) {{ return {}; }}\n", style.function, d.type(t), to_int_name(t), body);
    needs.insert({need.name, t.scalar()});
    std::vector<std::string> lanes;
    for (int k = 0; k < t.lanes; ++k) lanes.push_back(to_int_name(t.scalar()) + "(" + d.lane("x", k) + ")");
    return fmt::format("{}{} {}({} x) {{\n  return {};\n}}\n", style.function, d.type(t), to_int_name(t),
                       d.type(t.with(DType::F32)), d.vector_of(t, lanes, needs));
  }
  const int arity = need.name == "abs" || need.name == "sign" ? 1 : 2;
  if (t.lanes > 1) {
    needs.insert({need.name, t.scalar()});
    return per_lane(d, style, need.name, arity, t, t);
  }
  const std::string T = d.type(t);
  const std::string parameters = arity == 1 ? T + " x" : T + " x, " + T + " y";
  return fmt::format("{}{} {}({}) {{ return {}; }}\n", style.function, T, need.name, parameters, body);
}

}  // namespace mt::clike
