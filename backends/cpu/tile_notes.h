// What becomes of tiles, in words.
#pragma once
#include <string>
#include <vector>

#include "backends/cpu/emit.h"

namespace mt::cpu {

/// For each product the block that stays in registers, and whether its right operand is packed or read where it lies,
/// and why; for each operand its buffer; and the memory that all tiles of a simdgroup take. Nothing for kernels without
/// tiles.
std::vector<std::string> tile_notes(const Kernel& kernel, const EmitOptions& options);

}  // namespace mt::cpu
