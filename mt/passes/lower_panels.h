// Panels of threadgroup memory get the order in which products of teams read them.
#pragma once
#include "mt/passes/pipeline.h"

namespace mt {

/// Where the target has such products: the index i of every access to a panel becomes i ^ (i / 64 % 8 * 8), by which
/// the same columns of 8 neighbouring rows lie in different banks. Runs of 8 elements stay together.
bool lower_panels(Kernel& kernel, const PipelineOptions& options);

}  // namespace mt
