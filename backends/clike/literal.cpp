#include "backends/clike/literal.h"

#include <fmt/format.h>
#include <bit>
#include <cmath>

#include "mt/ir/edit.h"

namespace mt::clike {
namespace {

Expr float_literal(const Dialect& dialect, float v, Needs& needs) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  const std::string hex = fmt::format("0x{:08x}u", bits);
  if (const std::string infinity = dialect.infinity(); std::isinf(v) && !infinity.empty())
    return {(std::signbit(v) ? "-" : "") + infinity, std::signbit(v) ? kUnary : kPrimary};
  if (!std::isfinite(v)) return {dialect.bitcast({DType::U32}, {DType::F32}, hex, needs), kPrimary};
  std::string text = fmt::format("{}", v);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return {text + "f", std::signbit(v) ? kUnary : kPrimary};
}

}  // namespace

Expr literal(const Dialect& dialect, DType t, std::uint64_t bits, Needs& needs) {
  if (t == DType::Bool) return {bits ? "true" : "false", kPrimary};
  if (t == DType::F32) return float_literal(dialect, std::bit_cast<float>(static_cast<std::uint32_t>(bits)), needs);
  if (is_float(t)) {
    const auto wide = static_cast<float>(value_of(t, bits));
    if (!std::isfinite(wide))
      return {dialect.bitcast({DType::U16}, {t},
                              dialect.convert({DType::U32}, {DType::U16}, fmt::format("{}u", bits), needs), needs),
              kPrimary};
    return {dialect.convert({DType::F32}, {t}, float_literal(dialect, wide, needs).text, needs), kPrimary};
  }
  if (size_of(t) < 4) {
    const std::string value = is_signed(t) ? fmt::format("{}", int_value_of(t, bits)) : fmt::format("{}u", bits);
    return {dialect.convert({is_signed(t) ? DType::I32 : DType::U32}, {t}, value, needs), kPrimary};
  }
  const std::string_view suffix = dialect.suffix(t);
  // Large unsigned constants are masks and keys.
  if (is_unsigned(t)) return {fmt::format(fmt::runtime(bits >> 24 ? "{:#x}{}" : "{}{}"), bits, suffix), kPrimary};
  const std::int64_t v = int_value_of(t, bits);
  // The lowest value has no literal of its own: its digits without the sign are out of range.
  const bool lowest = t == DType::I32 ? v == INT32_MIN : v == INT64_MIN;
  if (lowest) return {fmt::format("({}{} - 1{})", v + 1, suffix, suffix), kPrimary};
  return {fmt::format("{}{}", v, suffix), v < 0 ? kUnary : kPrimary};
}

}  // namespace mt::clike
