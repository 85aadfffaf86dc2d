// Common subexpressions.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// A value that was computed before, in this region or one around it, is not computed again: pure ops, simd
/// collectives, and loads from memory that was not written since, with no barrier between where the memory can be
/// another thread's.
bool cse(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
