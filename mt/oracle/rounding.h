// The error model of f32 arithmetic that the bounds are built from.
//
// Every operation rounds once, with relative error at most u = 2^-24; a library function with an error of k ulps adds
// at most k * ulp(result). Bounds are first order in u: the terms in u^2 are below a millionth of what is kept.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "mt/base/expected.h"

namespace mt::oracle {

inline constexpr double kUnit = 0x1p-24;
/// Smallest normal f32. A library function may return zero for a subnormal result, so its bound includes this.
inline constexpr double kTiny = 0x1p-126;

/// Relative errors in units of u of what a target may do for an exponential or a logarithm, and per unit of argument
/// where exp(x) is computed as exp2(x * log2(e)).
inline constexpr double kExpError = 6, kExpArgument = 3, kLogError = 8;

/// Relative error of exp(x - y) in f32 at x - y = gap: the difference rounds once, then exp.
inline double exp_error(double gap) { return kUnit * (kExpError + (kExpArgument + 1) * std::fabs(gap)); }

/// Sums of exponentials kept relative to a running maximum are rescaled where it grows: so many times while a term is
/// still large, each time by an exponential and a product.
inline constexpr double kRescalings = 6;
/// What that adds, in units of u.
inline constexpr double kRescaleError = kRescalings * (kExpError + 1);

/// Distance of neighbouring f32 values at |v|.
inline double ulp(double v) {
  const auto biased = static_cast<std::int64_t>((std::bit_cast<std::uint64_t>(v) >> 52) & 0x7ff);
  return std::bit_cast<double>(static_cast<std::uint64_t>(std::max<std::int64_t>(biased, 1023 - 126) - 23) << 52);
}

/// The f32 nearest to `v`, as a double: what one correctly rounded operation gives.
inline double nearest_f32(double v) { return static_cast<double>(static_cast<float>(v)); }

/// Relative error in units of u, against the sum of magnitudes, of a sum of n terms that a kernel forms as at least
/// `chains` running sums of equal length with a tree of up to 16 levels above them. All roundings may go one way: those
/// of equal terms do.
inline double sum_factor(std::int64_t n, double chains = 64) {
  return n <= 1 ? 0 : std::min(static_cast<double>(n - 1), 16 + static_cast<double>(n) / chains);
}

/// The same for n terms added one after another under weights of their own, whose roundings are independent: a random
/// walk, six deviations of it.
inline double walk_factor(std::int64_t n) {
  return n <= 1 ? 0 : std::min(static_cast<double>(n - 1), 16 + 6 * std::sqrt(static_cast<double>(n)));
}

/// A number and how far an f32 computation may be from it, before the store.
struct Estimate {
  double value = 0, bound = 0;
};

/// `value` from a function with an error of `ulps`.
inline Estimate within_ulps(double value, double ulps) { return {value, ulps * ulp(value) + kTiny}; }

/// Records `e` as element i; infinities and NaN are asked for exactly.
inline void put(Expected& out, std::int64_t i, Estimate e) {
  const auto at = static_cast<std::size_t>(i);
  out.value[at] = e.value;
  out.bound[at] = std::isfinite(e.value) ? e.bound : 0;
}

}  // namespace mt::oracle
