#include "backends/metal/binding.h"

#include <fmt/format.h>

#include <algorithm>

namespace mt::metal {

std::vector<Slot> slots_of(const Kernel& kernel) {
  std::vector<Slot> slots;
  for (const Memory& m : kernel.memories)
    if (m.space == Space::Device) slots.push_back({m.name, m.dtype, m.access == Access::In, false, slots.size()});
  const std::size_t tensors = slots.size();
  for (const ScalarParam& p : kernel.scalars) slots.push_back({p.name, p.dtype, true, true, slots.size() - tensors});
  if (slots.size() > static_cast<std::size_t>(kMostBuffers))
    throw Error(
        fmt::format("metal: [{}] binds {} tensors and {} scalars; a Metal kernel has {} buffers at most; join tensors "
                    "or make some of the scalars parameters of the kernel's struct",
                    kernel.name, tensors, slots.size() - tensors, kMostBuffers));
  return slots;
}

void check_arguments(std::string_view device, std::string_view kernel, const std::vector<Slot>& slots,
                     const Arguments& arguments) {
  std::size_t tensors = 0, scalars = 0;
  for (const Slot& s : slots) {
    if (!s.scalar && s.position >= arguments.buffers.size())
      throw Error(fmt::format("{}: [{}] {} is not bound", device, kernel, s.name));
    ++(s.scalar ? scalars : tensors);
  }
  if (tensors != arguments.buffers.size())
    throw Error(fmt::format("{}: [{}] takes {} tensors, not {}", device, kernel, tensors, arguments.buffers.size()));
  if (scalars != arguments.scalars.size())
    throw Error(fmt::format("{}: [{}] takes {} scalars, not {}", device, kernel, scalars, arguments.scalars.size()));
}

std::array<std::uint32_t, 3> grid_of(std::string_view device, std::string_view kernel, const Groups& groups,
                                     int threads) {
  for (const std::int64_t n : groups) MT_ASSERT(n > 0, "an empty grid");
  if (groups[0] > UINT32_MAX / threads || groups[1] > UINT32_MAX || groups[2] > UINT32_MAX)
    throw Error(
        fmt::format("{}: [{}] {} x {} x {} threadgroups of {} threads are more than 2^32 - 1 threads along an axis",
                    device, kernel, groups[0], groups[1], groups[2], threads));
  return {static_cast<std::uint32_t>(groups[0]), static_cast<std::uint32_t>(groups[1]),
          static_cast<std::uint32_t>(groups[2])};
}

}  // namespace mt::metal
