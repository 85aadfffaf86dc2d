// Sums of products that still run.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "mt/ir/kernel.h"

namespace mt {

/// Uses of what mma_team gives, before mma_wait has given it back, by anything but a further mma_team that adds to it:
/// the instruction and what is wrong. What loops and ifs hand on of it counts.
std::vector<std::pair<InstId, std::string>> bad_flights(const Kernel& k);

}  // namespace mt
