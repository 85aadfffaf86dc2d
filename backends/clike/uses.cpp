#include "backends/clike/uses.h"

namespace mt::clike {

Uses::Uses(const Kernel& k)
    : count_(k.values.size(), 0),
      last_(k.values.size(), -1),
      end_(k.insts.size(), 0),
      region_(k.values.size(), RegionId::None),
      pinned_(k.values.size(), false) {
  visit(k, RegionId::Root);
}

void Uses::visit(const Kernel& k, RegionId r) {
  for (const InstId i : k.at(r).insts) {
    ++now_;
    for (const ValueId v : k.at(i).in) use(v, r);
    if (k.at(i).op == Op::Extract) pinned_[index_of(k.at(i).in[0])] = true;
    for (const RegionId inner : k.at(i).regions) visit(k, inner);
    end_[index_of(i)] = now_;
  }
  ++now_;
  for (const ValueId v : k.at(r).yields) use(v, r);
}

void Uses::use(ValueId v, RegionId r) {
  ++count_[index_of(v)];
  last_[index_of(v)] = now_;
  region_[index_of(v)] = r;
}

}  // namespace mt::clike
