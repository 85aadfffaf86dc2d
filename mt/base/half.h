// f16 and bf16 as bits: widening is exact, narrowing rounds to nearest even and keeps NaN a NaN.
#pragma once
#include <bit>
#include <cstdint>

namespace mt {

constexpr float bf16_to_f32(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
constexpr std::uint16_t f32_to_bf16(float x) {
  const auto u = std::bit_cast<std::uint32_t>(x);
  if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((u >> 16) | 0x40u);
  return static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

constexpr float f16_to_f32(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t exponent = (h >> 10) & 0x1fu, mantissa = h & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}
constexpr std::uint16_t f32_to_f16(float x) {
  const auto u = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>((u >> 16) & 0x8000u);
  const std::uint32_t a = u & 0x7fffffffu;
  if (a > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | ((a >> 13) & 0x3ffu));
  if (a >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds past 65504
  if (a >= 0x38800000u) return static_cast<std::uint16_t>(sign | ((a + 0xfffu + ((a >> 13) & 1u) - 0x38000000u) >> 13));
  // Subnormal: adding 0.5 shifts the wanted bits to the low end of the sum, rounded to nearest even.
  const float shifted = std::bit_cast<float>(a) + 0.5f;
  return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
}

/// `x` as an f32 that is truncated and, where that lost something, made odd: rounding the result to f16 or bf16 equals
/// rounding `x` itself once.
constexpr float f64_to_f32_odd(double x) {
  const auto f = static_cast<float>(x);
  const double widened = static_cast<double>(f);
  if (widened == x || x != x) return f;
  auto u = std::bit_cast<std::uint32_t>(f);
  u -= static_cast<std::uint32_t>((widened < 0 ? -widened : widened) > (x < 0 ? -x : x));
  return std::bit_cast<float>(u | 1u);
}

}  // namespace mt
