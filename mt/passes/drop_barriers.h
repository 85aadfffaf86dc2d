// Barriers that order nothing.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// Takes out a barrier where no memory that threads of a threadgroup share (threadgroup memory, and device memory that
/// the kernel both writes and reads) was accessed since the one before, or where none is accessed any more behind it.
bool drop_barriers(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
