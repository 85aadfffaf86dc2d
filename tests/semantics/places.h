// Where the instructions of a kernel stand.
#pragma once
#include <algorithm>
#include <vector>

#include "mt/ir/edit.h"

namespace mt {

/// All of them, outermost first, in order.
inline std::vector<InstId> in_order(const Kernel& k) {
  std::vector<InstId> list;
  walk(k, RegionId::Root, [&](InstId i) { list.push_back(i); });
  return list;
}
/// Place in its region; the region's size where the instruction is in none.
inline std::size_t position(const Kernel& k, InstId i) {
  const auto& list = k.at(k.at(i).home).insts;
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), i) - list.begin());
}

}  // namespace mt
