#include "mt/faults/place.h"

#include <algorithm>

namespace mt {

Builder Place::before() const {
  const RegionId home = inst().home;
  const auto& list = kernel.at(home).insts;
  const auto at = std::find(list.begin(), list.end(), id);
  Builder b(kernel, home, static_cast<std::size_t>(at - list.begin()));
  b.loc = inst().loc;
  return b;
}

ValueId Place::copy() const {
  Inst same = inst();
  return before().value(std::move(same), type());
}

void Place::become(Inst other) const {
  Inst& now = inst();
  other.out = now.out;
  other.home = now.home;
  other.loc = now.loc;
  now = std::move(other);
}

void Place::forward(ValueId v) const {
  const ValueId result = inst().out[0];
  erase();
  replace_all(kernel, result, v);
}

void Place::erase() const {
  auto& list = kernel.at(inst().home).insts;
  list.erase(std::find(list.begin(), list.end(), id));
}

ValueId Place::like(ValueId v, double value) const {
  const Type t = kernel.type(v);
  return before().constant(t, bits_of(t.dtype, value));
}

}  // namespace mt
