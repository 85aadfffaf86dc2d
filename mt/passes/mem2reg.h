// Variables become values: results of ifs and carried values of loops.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// Takes out every var, get and set. What is set in a region reaches the code behind it through the yields and results
/// of the if or loop around; values that nobody needs there are left to `dce`. Expects the kernel to verify.
bool mem2reg(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
