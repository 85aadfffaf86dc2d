// Tiles become the elements that each lane holds, products instructions of a matrix unit, and asynchronous copies what
// the target has.
#pragma once
#include <string>
#include <vector>

#include "mt/ir/kernel.h"
#include "mt/passes/pipeline.h"

namespace mt {

/// A tile becomes one vector for each block of its matrix unit. Throws Error on a tile whose shape the unit does not
/// take.
bool lower_tiles(Kernel& kernel, const PipelineOptions& options);

/// What lower_tiles does with the tiles and copies of a kernel, a sentence each with its place: which unit multiplies,
/// how elements are loaded and why.
std::vector<std::string> tile_notes(Kernel kernel, const PipelineOptions& options);

}  // namespace mt
