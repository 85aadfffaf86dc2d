// Text of what CUDA has for tiles: PTX of the matrix unit and of copies to shared memory.
#pragma once
#include <string>

#include "backends/clike/dialect.h"

namespace mt::cuda {

/// The prelude entry, or empty where it is not one of these.
std::string matrix_helper(const clike::Need& need, clike::Needs& needs);

}  // namespace mt::cuda
