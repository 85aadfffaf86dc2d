// Small floating-point codes as f32, by shifts and at most one multiply-add: E2M1 and E4M3 with a sign, E8M0 without.
#pragma once
#include <cmath>

#include "mt/dsl/dsl.h"

namespace mt {

/// Fields of a code from the top: a sign, exponent, mantissa. With exponent 0 a number is subnormal.
struct FloatCode {
  int exponent_bits, mantissa_bits, bias;
  bool has_nan;  // all ones, whatever the sign
  int magnitude_bits() const { return exponent_bits + mantissa_bits; }
};
inline constexpr FloatCode kE2m1{2, 1, 1, false}, kE4m3{4, 3, 7, true};

/// The number of the code in the low bits of each `code`; bits above it do not matter.
template <Form F>
BasicValue<f32, F> decode(const BasicValue<u32, F>& code, const FloatCode& c) {
  const int shift = 23 - c.mantissa_bits;
  const u32 ones = (1u << c.magnitude_bits()) - 1;
  const float normal = static_cast<float>(2. / (1 << c.bias));  // the least one
  const BasicValue<u32, F> size = code & ones;
  // With the leading bit that subnormals lack, these are half of the least normal number too large, and half as wide.
  // Numbers below the normal range of f32 never appear: targets may take them for 0.
  // Equivalent if constant_above of const in mt_q, constant_below of const in mt_q: sums may be off by more than an
  // ulp.
  const BasicValue<f32, F> led = bitcast<f32>((size << shift) + (static_cast<u32>(127 - c.bias) << 23));
  // Equivalent if or_equal of lt, nan_side of lt, constant_near of const: both ways give the least normal number alike,
  // no number lies just above it, and none is NaN here.
  const BasicValue<f32, F> value = select(led < normal, led * 2.f - normal, led);
  const BasicValue<u32, F> sign = code >> c.magnitude_bits() << 31;
  const BasicValue<u32, F> bits = bitcast<u32>(value);
  if (!c.has_nan) return bitcast<f32>(bits | sign);
  // Equivalent if constant_above, constant_below: that is a NaN as well.
  const U32 nan(0x7fc00000u);
  return bitcast<f32>(select(size == ones, nan, bits) | sign);
}
/// The same for codes that end at bit `end` of words, with less to do: where f32's subnormal numbers count, those of
/// the code are some of them, and a multiplication puts both right.
template <Form F>
BasicValue<f32, F> decode_at(const BasicValue<u32, F>& words, int end, const FloatCode& c) {
  const int above = 8 - c.exponent_bits;  // bits of f32's exponent that the code lacks
  // The sign goes to the top and fills what lies above the exponent.
  const BasicValue<u32, F> placed = end == 32 ? words : words << (32 - end);
  const BasicValue<u32, F> spread = bitcast<u32>(bitcast<i32>(placed) >> above);
  const u32 magnitude = ((1u << c.magnitude_bits()) - 1) << (23 - c.mantissa_bits);
  const BasicValue<u32, F> bits = spread & (magnitude | 0x80000000u);
  const float factor = std::ldexp(1.f, 127 - c.bias);
  const BasicValue<f32, F> value = bitcast<f32>(bits) * factor;
  if (!c.has_nan) return value;
  const U32 nan(0x7fc00000u);
  return bitcast<f32>(select((bits & magnitude) == magnitude, nan, bitcast<u32>(value)));
}
/// 2^(code - 127), and NaN for 255.
inline F32 decode_e8m0(const U32& code) {
  // Equivalent if constant_above, constant_below, select_second: targets may take 2^-127 for 0.
  const U32 bits = select(code == 0, 0x00400000u, code << 23);
  // Equivalent if constant_above, constant_below of const: that is a NaN as well.
  const U32 nan(0x7fc00000u);
  return bitcast<f32>(select(code == 255, nan, bits));
}

}  // namespace mt
