// Reductions over the threadgroup for targets that have only those of a simdgroup.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// With options.lower_group_reduce, group_reduce becomes: simd_reduce, a slot of threadgroup memory for each simdgroup,
/// a barrier, and a simd_reduce of the slots in every simdgroup; a barrier behind it frees the slots for the next one.
/// One scratch array a dtype serves all. The partial results are combined in a fixed order.
bool lower_group_reduce(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
