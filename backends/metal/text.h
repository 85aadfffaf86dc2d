// The Metal text of kernels.
#pragma once
#include <string>
#include <vector>

#include "mt/ir/kernel.h"

namespace mt::metal {

/// One text for all stages; `places` receives the place in the kernels' source of each of its lines.
std::string metal_text(const std::vector<Kernel>& stages, std::vector<Loc>* places = nullptr);

}  // namespace mt::metal
