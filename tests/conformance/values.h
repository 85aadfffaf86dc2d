// Operands for the tests of ops.
#pragma once
#include <cstdint>
#include <vector>

#include "mt/base/dtype.h"

namespace mt {

/// Bits of operand `k` of an op with `operands`, a multiple of 1024 of them. One operand: every value of 8- and 16-bit
/// dtypes; of f32 the edges (zeros, subnormals, ends, infinities, NaN, ties, arguments of functions up to 3e38) and
/// values of every exponent. More operands: edges crossed with each other, then random ones.
std::vector<std::uint64_t> operand_values(DType t, int k, int operands);

}  // namespace mt
