// Value semantics on bits: constants, evaluation by the table, conversion, identities.
#include <bit>
#include <cmath>
#include <limits>

#include "mt/base/error.h"
#include "mt/base/half.h"
#include "mt/base/host_tensor.h"
#include "mt/ir/edit.h"

namespace mt {
namespace {

std::uint64_t mask_of(DType t) { return bits_of(t) >= 64 ? ~0ull : (1ull << bits_of(t)) - 1; }

float float_of(DType t, std::uint64_t bits) {
  switch (t) {
    case DType::F32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case DType::F16:
      return f16_to_f32(static_cast<std::uint16_t>(bits));
    case DType::BF16:
      return bf16_to_f32(static_cast<std::uint16_t>(bits));
    default:
      MT_ICE("float_of an integer");
  }
}
std::uint64_t bits_of_float(DType t, float v) {
  switch (t) {
    case DType::F32:
      return std::bit_cast<std::uint32_t>(v);
    case DType::F16:
      return f32_to_f16(v);
    case DType::BF16:
      return f32_to_bf16(v);
    default:
      MT_ICE("bits_of_float of an integer");
  }
}
std::int64_t sign_extend(DType t, std::uint64_t bits) {
  const int shift = 64 - bits_of(t);
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

}  // namespace

std::uint64_t bits_of(DType dtype, double value) {
  if (is_float(dtype)) return bits_of_float(dtype, static_cast<float>(round_to(dtype, value)));
  if (dtype == DType::Bool) return value != 0;
  if (value < 0) return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & mask_of(dtype);
  return static_cast<std::uint64_t>(value) & mask_of(dtype);
}

double value_of(DType dtype, std::uint64_t bits) {
  if (is_float(dtype)) return static_cast<double>(float_of(dtype, bits));
  return is_signed(dtype) ? static_cast<double>(sign_extend(dtype, bits)) : static_cast<double>(bits);
}

std::int64_t int_value_of(DType dtype, std::uint64_t bits) {
  if (is_float(dtype)) return static_cast<std::int64_t>(float_of(dtype, bits));
  return is_signed(dtype) ? sign_extend(dtype, bits) : static_cast<std::int64_t>(bits);
}

std::optional<std::uint64_t> evaluate(Op op, DType t, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const OpInfo& row = info(op);
  const bool predicate = row.type == TypeRule::Pred;
  if (is_float(t)) {
    if (!row.f) return std::nullopt;
    const float r = row.f(float_of(t, a), float_of(t, b), float_of(t, c));
    return predicate ? std::uint64_t{r != 0} : bits_of_float(t, r);
  }
  const std::uint64_t width = static_cast<std::uint64_t>(bits_of(t));
  const bool shift = op == Op::Shl || op == Op::Shr;
  if (is_signed(t)) {
    if (!row.s) return std::nullopt;
    std::int64_t count = sign_extend(t, b);
    if (shift && static_cast<std::uint64_t>(count) >= width) count = 64;
    return static_cast<std::uint64_t>(row.s(sign_extend(t, a), count)) & (predicate ? 1 : mask_of(t));
  }
  if (!row.u) return std::nullopt;
  if (shift && b >= width) b = 64;
  return row.u(a, b) & (predicate ? 1 : mask_of(t));
}

std::uint64_t convert(DType from, DType to, std::uint64_t bits) {
  if (is_float(from)) {
    const float v = float_of(from, bits);
    if (is_float(to)) return bits_of_float(to, v);
    if (to == DType::Bool) return v != 0;
    if (std::isnan(v)) return 0;
    const double d = std::trunc(static_cast<double>(v));
    const double low = is_signed(to) ? -std::ldexp(1.0, bits_of(to) - 1) : 0.0;
    const double high = std::ldexp(1.0, is_signed(to) ? bits_of(to) - 1 : bits_of(to));
    if (d < low) return is_signed(to) ? (1ull << (bits_of(to) - 1)) : 0;
    if (d >= high) return is_signed(to) ? mask_of(to) >> 1 : mask_of(to);
    return bits_of(to, d);
  }
  if (to == DType::Bool) return bits != 0;
  if (is_float(to)) {
    const float v = is_signed(from) ? static_cast<float>(sign_extend(from, bits)) : static_cast<float>(bits);
    return bits_of_float(to, v);
  }
  return (is_signed(from) ? static_cast<std::uint64_t>(sign_extend(from, bits)) : bits) & mask_of(to);
}

std::uint64_t identity_of(Combine c, DType t) {
  const bool f = is_float(t);
  const double inf = std::numeric_limits<double>::infinity();
  switch (c) {
    case Combine::Sum:
      return f ? bits_of_float(t, -0.0f) : 0;
    case Combine::Or:
    case Combine::Xor:
      return 0;
    case Combine::Prod:
      return f ? bits_of(t, 1.0) : 1;
    case Combine::And:
      return mask_of(t);
    case Combine::Min:
      return f ? bits_of(t, inf) : is_signed(t) ? mask_of(t) >> 1 : mask_of(t);
    case Combine::Max:
      return f ? bits_of(t, -inf) : is_signed(t) ? 1ull << (bits_of(t) - 1) : 0;
    case Combine::Exchange:
      break;
  }
  MT_ICE("exchange has no identity");
}

}  // namespace mt
