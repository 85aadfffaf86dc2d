// Floats as integers that sort the same way, so that extremes and sorts compare one u32.
#pragma once
#include "mt/dsl/dsl.h"

namespace mt {

inline constexpr u32 kNanKey = 0xffffffffu;

/// A key that grows with x; every NaN has the highest, kNanKey; -0 comes before +0.
inline Vec<u32> order_key(const Vec<f32>& x) {
  const Vec<u32> bits = bitcast<u32>(x);
  const Vec<u32> key = select((bits >> 31) == 1, ~bits, bits | 0x80000000u);
  // Equivalent if constant_above in *_argmin: the complement of 0 is the highest key as well.
  // Equivalent if constant_below in mt_sort, constant_below in *_argmax: no number has that key either.
  return select(isnan(x), splat(U32(kNanKey), x.lanes()), key);
}
/// The float of a key; NaN for kNanKey, which has all bits of one.
inline Vec<f32> from_order_key(const Vec<u32>& key) {
  return bitcast<f32>(select((key >> 31) == 1, key & 0x7fffffffu, ~key));
}

}  // namespace mt
