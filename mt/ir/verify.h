// Rules that every kernel keeps between passes.
#pragma once
#include <string>
#include <vector>

#include "mt/ir/kernel.h"

namespace mt {

struct Violation {
  InstId inst = InstId::None;  // where it is; None where it concerns the kernel's declarations or tables
  std::string what;
};

/// Checked: table references, types and arity by the op table, dominance, regions and yields, memory and alignment,
/// barriers and group reductions in control flow that is uniform over the threadgroup, simd collectives in control
/// flow that is uniform over the simdgroup, stores only to writable memory, at least one store or atomic to an output.
std::vector<Violation> find_violations(const Kernel& kernel);

/// Empty where the kernel is sound, else one sentence a violation, a line each, with the place in the source.
std::string verify(const Kernel& kernel);

}  // namespace mt
