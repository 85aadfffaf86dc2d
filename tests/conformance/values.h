// Operands for the tests of ops.
#pragma once
#include <cstdint>
#include <vector>

#include "mt/base/dtype.h"
#include "mt/ir/opcode.h"

namespace mt {

/// Bits of operand `k` of an op with `operands`, a multiple of 1024 of them. One operand: every value of 8- and 16-bit
/// dtypes; of f32 the edges (zeros, subnormals, ends, infinities, NaN, ties, arguments of functions up to 3e38) and
/// values of every exponent. More operands: edges crossed with each other, then random ones.
std::vector<std::uint64_t> operand_values(DType t, int k, int operands);

/// Operands of a function of f32: edges, a sweep over all bit patterns, and where functions are hard; some half a
/// million of each.
std::vector<std::vector<std::uint64_t>> sweep(Op op);

}  // namespace mt
