#include "mt/passes/lower_panels.h"

#include <algorithm>

#include "mt/passes/rewrite.h"

namespace mt {
namespace {

class Panels : public Rewriter {
 public:
  using Rewriter::Rewriter;

 private:
  bool visit(InstId id) override {
    const Inst& i = k_.at(id);
    const bool accesses =
        i.op == Op::Load || i.op == Op::Store || i.op == Op::Atomic || i.op == Op::LoadMatrix || i.op == Op::CopyAsync;
    if (!accesses || k_.at(i.memory).layout != Layout::Panels) return true;
    Builder b = here();
    const ValueId at = i.in[0];
    const DType t = k_.type(at).dtype;
    // i / 64 % 8 * 8
    const ValueId row = b.binary(Op::And, b.binary(Op::Shr, at, b.constant_int(t, 3)), b.constant_int(t, 7 * 8));
    k_.at(id).in[0] = b.binary(Op::Xor, at, row);
    changed_ = true;
    return true;
  }
};

}  // namespace

bool lower_panels(Kernel& kernel, const PipelineOptions& options) {
  const bool any = std::any_of(kernel.memories.begin(), kernel.memories.end(),
                               [](const Memory& m) { return m.layout == Layout::Panels; });
  if (!options.tiles.teams || !any) return false;
  Panels(kernel).run();
  for (Memory& m : kernel.memories)
    if (m.layout == Layout::Panels) m.layout = Layout::Swizzled;
  return true;
}

}  // namespace mt
