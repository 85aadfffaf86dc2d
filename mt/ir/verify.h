// Rules that every kernel keeps between passes.
#pragma once
#include <string>

#include "mt/ir/kernel.h"

namespace mt {

/// Empty where the kernel is sound, else one sentence a violation, a line each, with the place in the source.
/// Checked: table references, types and arity by the op table, dominance, regions and yields, memory and alignment,
/// barriers and group reductions in control flow that is uniform over the threadgroup, simd collectives in control
/// flow that is uniform over the simdgroup, stores only to writable memory, at least one store or atomic to an output.
std::string verify(const Kernel& kernel);

}  // namespace mt
