// Identities of arithmetic.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// Integers: neutral and absorbing operands, x - x, division of unsigned by powers of two, constants gathered and moved
/// outwards (`x + (y + 1)` becomes `(x + y) + 1`, so that addresses end in a constant). Floats: only what keeps every
/// value, signed zeros and infinities included. Constants go to the right of operations that commute.
bool algebra(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
