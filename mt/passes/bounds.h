// Bounds of unsigned integers that hold wherever a value is computed.
#pragma once
#include <cstdint>

#include "mt/ir/kernel.h"

namespace mt {

/// Found by looking a few definitions deep; 0 and the largest number of the type where nothing is known, and for
/// anything but one unsigned integer.
std::uint64_t at_least(const Kernel& k, ValueId v);
std::uint64_t at_most(const Kernel& k, ValueId v);

}  // namespace mt
