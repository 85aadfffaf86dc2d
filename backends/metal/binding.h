// How arguments meet the [[buffer(n)]] of a kernel's Metal text: tensors first, in order, then one slot a scalar.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "mt/ir/kernel.h"

namespace mt::metal {

/// Indices of a kernel's argument table.
inline constexpr int kMostBuffers = 31;

struct Slot {
  std::string name;
  DType dtype = DType::F32;  // of an element
  bool read_only = false;
  bool scalar = false;
  std::size_t position = 0;  // in Arguments::buffers or in Arguments::scalars
};

/// The slot at position n has index n. Throws Error for more than kMostBuffers.
std::vector<Slot> slots_of(const Kernel& kernel);

/// Throws Error, in the words of `device`, where a tensor or scalar is missing or there is one too many.
void check_arguments(std::string_view device, std::string_view kernel, const std::vector<Slot>& slots,
                     const Arguments& arguments);

/// The same numbers as Metal takes them, all above 0. Throws Error where an axis has more than 2^32 - 1 threads: a
/// position in the grid is a uint.
std::array<std::uint32_t, 3> grid_of(std::string_view device, std::string_view kernel, const Groups& groups,
                                     int threads);

}  // namespace mt::metal
