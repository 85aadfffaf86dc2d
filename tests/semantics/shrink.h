// A smaller kernel that fails the same way.
#pragma once
#include <functional>

#include "mt/ir/kernel.h"

namespace mt {

/// Whether the kernel, which verifies, still shows what is searched for.
using Fails = std::function<bool(const Kernel&)>;

/// Takes out instructions, puts constants and operands in place of values, opens ifs and loops, for as long as `fails`
/// holds and the time lasts. `kernel` must fail.
Kernel shrink(Kernel kernel, const Fails& fails, double seconds = 30);

/// Instructions in all regions.
std::size_t instructions(const Kernel& kernel);

}  // namespace mt
