// Where values are used: how often, in which region, and when for the last time in program order.
#pragma once
#include <vector>

#include "mt/ir/kernel.h"

namespace mt::clike {

class Uses {
 public:
  explicit Uses(const Kernel& k);
  int count(ValueId v) const { return count_[index_of(v)]; }
  /// Region of the last use: of the instruction, or the one that yields it.
  RegionId region(ValueId v) const { return region_[index_of(v)]; }
  /// Number of the last use in program order; a yield counts as the end of its region.
  int last(ValueId v) const { return last_[index_of(v)]; }
  /// Whether a lane of the value is taken: such text names the vector's variable wherever the lane is used.
  bool pinned(ValueId v) const { return pinned_[index_of(v)]; }
  /// Number of the end of an instruction, its regions included.
  int end(InstId i) const { return end_[index_of(i)]; }

 private:
  void visit(const Kernel& k, RegionId r);
  void use(ValueId v, RegionId r);
  int now_ = 0;
  std::vector<int> count_, last_, end_;
  std::vector<RegionId> region_;
  std::vector<bool> pinned_;
};

}  // namespace mt::clike
