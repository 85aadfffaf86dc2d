// Loop-invariant code.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// Moves pure ops out of loops whose operands are made outside. Loads move only where the loop surely runs them (at the
/// top of the body of a for with a proven trip, or of a while's condition) and nothing in the loop changes the memory.
bool licm(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
