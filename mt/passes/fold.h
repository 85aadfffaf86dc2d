// What is known at compile time: constants, branches never taken, loops of no or one trip, conversions that undo each
// other.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// Evaluates pure ops on constants by the op table; takes branches whose condition is a constant and loops that run
/// never or once; drops casts and lane shuffling that change nothing. Every rewrite keeps the value bit for bit, the
/// quiet bit of NaNs apart.
bool fold(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
