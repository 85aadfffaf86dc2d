// What the verifier asks of tiles and of the ops that make them.
#pragma once
#include <string>
#include <vector>

#include "mt/ir/kernel.h"
#include "mt/ir/uniformity.h"

namespace mt {

/// One sentence, or empty: whether a tile of that type can exist.
std::string bad_tile(Type t);
/// One sentence, or empty: types and memories of a tile op, LoadMatrix, MmaBlock or asynchronous copy; for other ops
/// that none of their operands is a tile.
std::string bad_tile_op(const Kernel& k, const Inst& i);
/// The same for what must be equal on all lanes: operands of tile ops, and what the region of a tile_map takes from
/// outside.
std::string bad_tile_uniformity(const Kernel& k, const Inst& i, const std::vector<Uniformity>& uniformity);

}  // namespace mt
