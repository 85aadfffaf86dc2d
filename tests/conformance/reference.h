// What every op gives, written down a second time, in double and wide integers, apart from the op table.
#pragma once
#include <array>
#include <cstdint>

#include "mt/ir/opcode.h"

namespace mt {

using Operands = std::array<std::uint64_t, 3>;  // bits

struct Wanted {
  bool real = false;
  bool either_zero = false;  // a zero of either sign will do       // `value` counts, else `bits`
  std::uint64_t bits = 0;    // of the result's dtype
  double value = 0;          // unrounded; an exact op's is rounded to f32 by whoever compares
};

/// `on` is the dtype of the operands (of select: of the two values), `to` that of the result. A function's value is
/// that of the C library in double, good to a few 2^-53.
Wanted wanted(Op op, DType on, DType to, const Operands& in);

struct Judgement {
  bool good = true;
  double ulps =
      0;  // error of an f32 in units of its last place; of f16 and bf16 the excess over rounding is not counted
};

/// Whether `got` is within `ulp` units of the last place of f32 of what is wanted (0: correctly rounded), rounded once
/// more where the result is f16 or bf16. NaN must be NaN, and an exact zero has its sign.
Judgement judge(const Wanted& wanted, DType to, std::uint64_t got, double ulp);

}  // namespace mt
