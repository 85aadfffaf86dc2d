// One order for equal kernels.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// Places pure values and loads by demand of the effects, depth first and left to right. The order in which a C++
/// compiler evaluated operands while the kernel was traced no longer shows. Effects and control flow keep their order;
/// loads stay on their side of loops, ifs, barriers, and writes to their memory.
bool canonical(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
