#include "mt/passes/rewrite.h"

#include <utility>

#include "mt/base/error.h"

namespace mt {

bool Rewriter::run() {
  walk_region(RegionId::Root);
  return changed_;
}

void Rewriter::replace(ValueId from, ValueId to) {
  to = resolve(to);
  MT_ASSERT(from != to, "a value is replaced by itself");
  if (instead_.size() <= index_of(from)) instead_.resize(k_.values.size(), ValueId::None);
  instead_[index_of(from)] = to;
  std::string& name = k_.at(to).name;
  if (name.empty()) name = k_.at(from).name;
  changed_ = true;
}

ValueId Rewriter::resolve(ValueId v) const {
  while (index_of(v) < instead_.size() && instead_[index_of(v)] != ValueId::None) v = instead_[index_of(v)];
  return v;
}

Builder Rewriter::here() const {
  Builder b(k_, region_);
  b.loc = loc_;
  return b;
}

void Rewriter::make_constant(InstId id, std::uint64_t bits) {
  Inst& i = k_.at(id);
  i = {.op = Op::Const, .bits = bits, .out = i.out, .home = i.home, .loc = i.loc};
  changed_ = true;
}

void Rewriter::inline_region(RegionId r) {
  changed_ = true;
  walk_list(std::exchange(k_.at(r).insts, {}));
  for (ValueId& v : k_.at(r).yields) v = resolve(v);
}

void Rewriter::walk_region(RegionId r) {
  const RegionId outer = std::exchange(region_, r);
  enter_region(r);
  walk_list(std::exchange(k_.at(r).insts, {}));
  for (ValueId& v : k_.at(r).yields) v = resolve(v);
  leave_region(r);
  region_ = outer;
}

void Rewriter::walk_list(const std::vector<InstId>& list) {
  for (const InstId id : list) {
    for (ValueId& v : k_.at(id).in) v = resolve(v);
    k_.at(id).home = region_;
    loc_ = k_.at(id).loc;
    if (!visit(id)) {
      changed_ = true;
      continue;
    }
    k_.at(region_).insts.push_back(id);
    const std::vector<RegionId> regions = k_.at(id).regions;
    for (const RegionId r : regions) walk_region(r);
    if (!regions.empty()) leave(id);
  }
}

}  // namespace mt
