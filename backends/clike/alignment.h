// What vector accesses ask of the buffers that a text is run with.
#pragma once
#include <cstddef>
#include <vector>

#include "mt/ir/kernel.h"

namespace mt::clike {

/// What the address of each device memory must be a multiple of, in bytes, where no access is wider than `widest`.
std::vector<std::size_t> view_alignments(const Kernel& kernel, std::size_t widest);

}  // namespace mt::clike
