// Exponentials and what is made of them, as precise as the storage T of the result can show.
#pragma once
#include "mt/dsl/dsl.h"

namespace mt {

/// e^x; to one part in 2^15 where T has 16 bits.
template <class T>
Vec<f32> exp_for(const Vec<f32>& x) {
  if constexpr (size_of(dtype_of<T>) == 2)
    return fast_exp(x);
  else
    return exp(x);
}
/// 2^x, likewise; for 16 bits 0 instead of what is below the least normal number of f32.
template <class T>
F32 exp2_for(const F32& x) {
  if constexpr (size_of(dtype_of<T>) == 2)
    return fast_exp2(x);
  else
    return exp2(x);
}
/// What an exponential by exp_for or exp2_for may be off by, relative to it, beyond what exp is.
template <class T>
inline constexpr double kExpLoss = size_of(dtype_of<T>) == 2 ? 0x1p-15 : 0;

/// 1 / (1 + exp(-x)).
template <class T>
Vec<f32> sigmoid(const Vec<f32>& x) {
  return recip(1.f + exp_for<T>(-x));
}
/// x * sigmoid(x).
template <class T>
Vec<f32> silu(const Vec<f32>& x) {
  return x / (1.f + exp_for<T>(-x));
}
/// The tanh form of gelu: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x³))).
inline Vec<f32> gelu(const Vec<f32>& x) {
  const Vec<f32> inner = 0.7978845608028654f * fma(0.044715f * x * x, x, x);
  return 0.5f * x * (1.f + tanh(inner));
}

}  // namespace mt
