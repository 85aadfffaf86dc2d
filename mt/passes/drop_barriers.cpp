#include "mt/passes/drop_barriers.h"

#include <algorithm>

#include "mt/ir/edit.h"

namespace mt {
namespace {

class DropBarriers {
 public:
  explicit DropBarriers(Kernel& k) : k_(k), shared_(k.memories.size()) {
    std::vector<bool> read(shared_.size()), written(shared_.size());
    walk(k, RegionId::Root, [&](InstId id) {
      const Inst& i = k.at(id);
      for (const MemoryId m : read_by(i))
        if (m != MemoryId::None) read[index_of(m)] = true;
      if (const MemoryId m = written_by(i); m != MemoryId::None) written[index_of(m)] = true;
    });
    for (std::size_t m = 0; m < shared_.size(); ++m)
      shared_[m] = k.memories[m].space != Space::Thread && read[m] && written[m];
  }

  bool run() {
    region(RegionId::Root, false);
    trailing();
    return changed_;
  }

 private:
  bool accesses(const Inst& i) const {
    const auto is_shared = [&](MemoryId m) { return m != MemoryId::None && shared_[index_of(m)]; };
    return is_shared(read_by(i)[0]) || is_shared(read_by(i)[1]) || is_shared(written_by(i));
  }

  /// Walks a region and drops its idle barriers. `open`: whether shared memory was accessed since the last barrier; the
  /// answer is whether it was at the end.
  bool region(RegionId r, bool open) {
    std::vector<InstId> kept;
    for (const InstId id : k_.at(r).insts) {
      const Inst& i = k_.at(id);
      if (i.op == Op::Barrier && !open) {
        changed_ = true;
        continue;
      }
      kept.push_back(id);
      if (i.op == Op::Barrier || i.op == Op::GroupReduce)
        open = false;
      else if (i.op == Op::If)
        open = branches(i, open);
      else if (!i.regions.empty())
        open = loop(i, open);
      else
        open = open || accesses(i);
    }
    k_.at(r).insts = std::move(kept);
    return open;
  }
  bool branches(const Inst& i, bool open) {
    bool after = false;
    for (const RegionId r : i.regions) after = region(r, open) || after;
    return after;
  }
  /// A body may follow itself, and a loop may have no trip: nothing is known at its start.
  bool loop(const Inst& i, bool open) {
    bool after = open;
    for (const RegionId r : i.regions) after = region(r, true) || after;
    return after;
  }

  /// Barriers behind the last access of the kernel.
  void trailing() {
    auto& list = k_.at(RegionId::Root).insts;
    for (std::size_t at = list.size(); at-- > 0;) {
      const Inst& i = k_.at(list[at]);
      if (i.op == Op::Barrier) {
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
        changed_ = true;
        continue;
      }
      bool touches = accesses(i) || i.op == Op::GroupReduce;
      for (const RegionId r : i.regions)
        walk(k_, r, [&](InstId inner) { touches = touches || accesses(k_.at(inner)); });
      if (touches) return;
    }
  }

  Kernel& k_;
  std::vector<bool> shared_;  // by memory
  bool changed_ = false;
};

}  // namespace

bool drop_barriers(Kernel& kernel, const PipelineOptions&) { return DropBarriers(kernel).run(); }

}  // namespace mt
