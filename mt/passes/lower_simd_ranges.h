// Loops whose positions are dealt to the simdgroups.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// A `for` with the flag `contiguous` starts at simd_id + low and steps by the number of simdgroups; the order of its
/// positions is free. With options.contiguous_simds each simdgroup gets a contiguous run of low..end instead, the first
/// ones one position more where they don't divide evenly. The flag is cleared.
bool lower_simd_ranges(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
