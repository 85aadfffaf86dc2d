// Elementary functions on f32 as LLVM instructions, for scalars and vectors of any length.
#pragma once
#include <vector>

#include "backends/cpu/text.h"
#include "mt/ir/opcode.h"

namespace mt::cpu {

/// The op on f32 operands, within the ulp bound of the op table over all of f32.
Ref maths(Writer& w, Op op, const std::vector<Ref>& args);
/// The same for the functions that are computed in double, in a helper function of the text (attribute group #1).
Ref maths_double(Writer& w, Op op, const std::vector<Ref>& args);

}  // namespace mt::cpu
