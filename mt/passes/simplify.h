// fold and algebra until neither finds anything.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

bool simplify(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
