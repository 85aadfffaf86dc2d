// Which values of a kernel are operands of a matrix unit that takes words of two 16-bit elements.
#pragma once
#include <vector>

#include "mt/ir/kernel.h"

namespace mt::clike {

/// By value: vectors of 16-bit floats that only mma_block uses in the end, or that load_matrix makes, or that flow into
/// or out of one of those through control flow or a pack. They are best held as words all the way.
std::vector<bool> find_matrix_words(const Kernel& kernel);

}  // namespace mt::clike
