#include "mt/passes/memory_effects.h"

#include <algorithm>

#include "mt/ir/edit.h"

namespace mt {

MemoryEffects::MemoryEffects(const Kernel& k) : written_(k.memories.size()), changes_(k.insts.size()) {
  walk(k, RegionId::Root, [&](InstId id) {
    const Inst& i = k.at(id);
    if (const MemoryId m = written_by(i); m != MemoryId::None) written_[index_of(m)] = true;
  });
  for (const InstId i : k.at(RegionId::Root).insts) collect(k, i);
}

const std::vector<MemoryId>& MemoryEffects::collect(const Kernel& k, InstId id) {
  const Inst& i = k.at(id);
  std::vector<MemoryId>& list = changes_[index_of(id)];
  if (const MemoryId m = written_by(i); m != MemoryId::None) list = {m};
  if (info(i.op).effect == Effect::Syncs)
    for (std::size_t m = 0; m < k.memories.size(); ++m)
      if (written_[m] && k.memories[m].space != Space::Thread) list.push_back(static_cast<MemoryId>(m));
  for (const RegionId r : i.regions)
    for (const InstId inner : k.at(r).insts) {
      const std::vector<MemoryId>& more = collect(k, inner);
      list.insert(list.end(), more.begin(), more.end());
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  return list;
}

bool MemoryEffects::changes(InstId i, MemoryId m) const {
  const auto& list = changes(i);
  return std::binary_search(list.begin(), list.end(), m);
}

}  // namespace mt
