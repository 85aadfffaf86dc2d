// Constants move out of widened indices.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// `u64(x + 3)` becomes `u64(x) + 3` where x is a multiple of 4, so that the sum cannot wrap: the constant then reaches
/// the end of the address, where `algebra` gathers it.
bool split_offsets(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
