// Prelude functions that every C-like language needs in the same form.
#pragma once
#include <optional>
#include <string>

#include "backends/clike/dialect.h"

namespace mt::clike {

/// How a language spells the few things that shared helpers are made of.
struct HelperStyle {
  std::string function;     // before the return type of a function
  std::string shuffle_xor;  // {0}: value, {1}: mask
  std::string shuffle_up;   // {0}: value, {1}: delta
  std::string min, max;     // of two integers of one type, qualified
};

/// `x` combined with `y` by `c` on scalars of type `t`.
std::string combined(const Dialect& d, Combine c, DType t, const std::string& x, const std::string& y,
                     const HelperStyle& style, Needs& needs);
/// The helper, where it is one of: div, rem, shl, shr, abs, sign, to_int, and reductions and scans over a simdgroup
/// (simd_reduce, simd_inclusive, simd_exclusive; the variant is the Combine). A helper on a vector calls the scalar
/// one for each lane.
std::optional<std::string> common_helper(const Dialect& d, const Need& need, const HelperStyle& style, Needs& needs);
/// The vector overload of mt::<name> with `arity` operands of type `t` and a result of type `result`.
std::string per_lane(const Dialect& d, const HelperStyle& style, const std::string& name, int arity, Type t,
                     Type result);

/// Parts of a vector, separated by commas; a line each where one line would be long.
std::string lanes_text(const std::vector<std::string>& lanes);

/// Name of the function of a reduction or scan: simd_max, simd_inclusive_sum, ...
std::string collective_name(const Inst& inst);
/// Name of the prelude function of a float to integer conversion.
std::string to_int_name(Type t);

}  // namespace mt::clike
