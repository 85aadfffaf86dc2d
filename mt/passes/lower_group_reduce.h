// Reductions over the threadgroup for targets that have only those of a simdgroup.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// With options.lower_group_reduce, group_reduce becomes: simd_reduce, a slot of threadgroup memory for each simdgroup,
/// a barrier, and every thread combining all slots in a fixed order, neighbours first; a barrier behind it frees the
/// slots for the next one. One scratch array a dtype serves all.
bool lower_group_reduce(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
