// What instructions do to memories.
#pragma once
#include <vector>

#include "mt/ir/kernel.h"

namespace mt {

/// By memory, for one instruction and all that its regions hold: whether what a load gives may differ behind it.
/// Different device memories do not alias.
class MemoryEffects {
 public:
  explicit MemoryEffects(const Kernel& k);

  /// The kernel writes the memory somewhere.
  bool written(MemoryId m) const { return written_[index_of(m)]; }
  /// Memories that instruction `i` may change: stores and atomics to them, and barriers for what other threads write.
  const std::vector<MemoryId>& changes(InstId i) const { return changes_[index_of(i)]; }
  bool changes(InstId i, MemoryId m) const;

 private:
  const std::vector<MemoryId>& collect(const Kernel& k, InstId i);

  std::vector<bool> written_;
  std::vector<std::vector<MemoryId>> changes_;  // by instruction, in order of id
};

}  // namespace mt
