// Dead code: what no effect needs goes.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// Takes out instructions whose results nothing needs, ifs and loops without effect, and results and carried values
/// that nothing reads. Stores, atomics and barriers stay, so do memories and scalars (they are the kernel's interface),
/// and whiles that read memory which the kernel may see changed.
bool dce(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
