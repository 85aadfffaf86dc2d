// Powers of two that divide integer values.
#pragma once
#include <cstdint>
#include <vector>

#include "mt/ir/kernel.h"

namespace mt {

/// For every value (index: value id) a number of low bits that are surely zero, 0..64. Vectors and floats: 0. What the
/// kernel declares of its scalars is believed.
std::vector<std::uint8_t> zero_bits(const Kernel& kernel);

}  // namespace mt
