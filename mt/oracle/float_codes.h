// Small floating-point numbers as their definitions give them: OCP Microscaling Formats 1.0 for E2M1, E4M3 and E8M0.
#pragma once
#include <cstdint>

namespace mt::oracle {

/// 4 bits: sign, 2 of exponent (bias 1), 1 of mantissa; exponent 0 is subnormal. ±{0, 0.5, 1, 1.5, 2, 3, 4, 6}.
double e2m1(std::uint32_t code);
/// 8 bits: sign, 4 of exponent (bias 7), 3 of mantissa; exponent 0 is subnormal. No infinities; all ones is NaN
/// whatever the sign. The largest is 448.
double e4m3(std::uint32_t code);
/// 8 bits: 2^(code - 127), 255 is NaN. There is no zero and no sign.
double e8m0(std::uint32_t code);

/// A format of weights in groups: what a code and a group's scale say. `Integers` with scales (and biases) that are
/// numbers of tensors make the affine formats.
enum class Codes : std::uint8_t { Integers, E2m1, E4m3 };
enum class Scales : std::uint8_t { Numbers, E8m0, E4m3 };

}  // namespace mt::oracle
