#include "mt/passes/infer_alignment.h"

#include <algorithm>

#include "mt/ir/edit.h"
#include "mt/passes/divisibility.h"

namespace mt {

bool infer_alignment(Kernel& k, const PipelineOptions&) {
  const std::vector<std::uint8_t> zeros = zero_bits(k);
  bool changed = false;
  walk(k, RegionId::Root, [&](InstId id) {
    Inst& i = k.at(id);
    if (i.op != Op::Load && i.op != Op::Store && i.op != Op::CopyAsync) return;
    const bool copy = i.op == Op::CopyAsync;
    const int lanes = copy ? i.index : k.type(i.op == Op::Load ? i.out[0] : i.in[1]).lanes;
    const auto of = [&](std::size_t operand) { return 1 << std::min<int>(zeros[index_of(i.in[operand])], 4); };
    const int align = std::min(lanes, copy ? std::min(of(0), of(1)) : of(0));
    if (align <= i.align) return;
    i.align = align;
    changed = true;
  });
  return changed;
}

}  // namespace mt
