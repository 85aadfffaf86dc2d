#include "backends/clike/alignment.h"

#include <algorithm>

#include "mt/ir/edit.h"

namespace mt::clike {

std::vector<std::size_t> view_alignments(const Kernel& kernel, std::size_t widest) {
  std::vector<std::size_t> all(kernel.memories.size(), 1);
  walk(kernel, RegionId::Root, [&](InstId id) {
    const Inst& i = kernel.at(id);
    if (i.op != Op::Load && i.op != Op::Store && i.op != Op::CopyAsync) return;
    const bool copy = i.op == Op::CopyAsync;
    const int lanes = copy ? i.index : kernel.type(i.op == Op::Load ? i.out[0] : i.in[1]).lanes;
    const MemoryId memory = copy ? i.from : i.memory;
    const auto bytes = static_cast<std::size_t>(std::min(lanes, i.align) * size_of(kernel.at(memory).dtype));
    std::size_t& least = all[index_of(memory)];
    least = std::max(least, std::min(widest, bytes));
  });
  std::vector<std::size_t> device;
  for (std::size_t m = 0; m < all.size(); ++m)
    if (kernel.memories[m].space == Space::Device) device.push_back(all[m]);
  return device;
}

}  // namespace mt::clike
