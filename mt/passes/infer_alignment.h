// Alignment of vector accesses.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// Raises `align` of loads and stores to what the index is known to be a multiple of, up to their lanes.
bool infer_alignment(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
