// Neighbouring loads and stores become wider ones.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// Merges loads, or stores, of neighbouring elements (`base + 0`, `base + 1`, ...) of one memory in one region into
/// accesses of 2, 4 or 8 lanes up to options.max_vector_bytes, where the first index is known to be a multiple of the
/// lanes. Loads move up to the first of them and stores down to the last, never across an access that may touch the
/// same elements, nor a barrier.
bool vectorize_memory(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
