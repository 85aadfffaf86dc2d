// Lays one pattern of numbers over an input.
#pragma once
#include "mt/base/fill.h"
#include "mt/base/host_tensor.h"

namespace mt::oracle {

/// Replaces the numbers of a float tensor, filled as declared, by those of the pattern, rounded to its dtype. A row is
/// the last axis.
void lay_values(HostTensor& t, Values values);

}  // namespace mt::oracle
