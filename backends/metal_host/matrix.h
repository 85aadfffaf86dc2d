// The product of two simdgroup matrices.
#pragma once
#include <cstddef>

namespace mt::metal_host {

/// Adds to `sum` the two elements of an 8 x 8 product that `lane` holds, one fused step for each k from 0 to 7. `slots`
/// has each lane's {a0, a1, b0, b1} at MSL_SLOT_BYTES a lane.
void add_product(const std::byte* slots, unsigned lane, float* sum);

}  // namespace mt::metal_host
