#include "mt/ir/stats.h"

#include <algorithm>
#include <vector>

namespace mt {
namespace {

/// Numbers every instruction in order and finds how long each value is needed: to its last use, and where that is in a
/// loop the value was not made in, to the loop's end.
class Counter {
 public:
  explicit Counter(const Kernel& k)
      : k_(k), end_of_region_(k.regions.size()), made_(k.values.size(), -1), last_(k.values.size(), -1) {}

  KernelStats run() {
    number(RegionId::Root, 0);
    use(RegionId::Root);
    std::vector<int> change(static_cast<std::size_t>(now_) + 2, 0);
    for (std::size_t v = 0; v < k_.values.size(); ++v) {
      const Inst* def = k_.def(static_cast<ValueId>(v));
      if (last_[v] < 0 || made_[v] < 0 || (def && def->op == Op::Const)) continue;
      const Type t = k_.values[v].type;
      const int registers = t.lanes * std::max(1, size_of(t.dtype) / 4);
      change[static_cast<std::size_t>(made_[v])] += registers;
      change[static_cast<std::size_t>(last_[v])] -= registers;
    }
    int live = 0;
    for (const int c : change) stats_.live_registers = std::max(stats_.live_registers, live += c);
    for (const Memory& m : k_.memories) {
      if (m.space == Space::Threadgroup) stats_.threadgroup_bytes += m.count * size_of(m.dtype);
      if (m.space == Space::Thread) stats_.thread_bytes += m.count * size_of(m.dtype);
    }
    return std::move(stats_);
  }

 private:
  void number(RegionId r, int depth) {
    stats_.nesting = std::max(stats_.nesting, depth);
    for (const ValueId v : k_.at(r).args) made_[index_of(v)] = now_;
    for (const InstId id : k_.at(r).insts) {
      const Inst& i = k_.at(id);
      ++now_;
      ++stats_.instructions;
      ++stats_.by_op[info(i.op).name];
      for (const RegionId inner : i.regions) number(inner, depth + 1);
      for (const ValueId v : i.out) made_[index_of(v)] = now_;
    }
    end_of_region_[index_of(r)] = ++now_;
  }

  void use(RegionId r) {
    for (const InstId id : k_.at(r).insts) {
      const Inst& i = k_.at(id);
      ++clock_;
      for (const ValueId v : i.in) needed(v, r);
      for (const RegionId inner : i.regions) use(inner);
      if (i.op == Op::For)  // end and step are compared and added in every trip
        for (const std::size_t n : {1u, 2u}) needed(i.in[n], r);
    }
    ++clock_;
    for (const ValueId v : k_.at(r).yields) needed(v, r);
  }
  void needed(ValueId v, RegionId r) {
    int until = clock_;
    for (const RegionId made = k_.home(v); r != made && r != RegionId::None; r = k_.parent(r)) {
      const InstId owner = k_.at(r).owner;
      if (owner == InstId::None || k_.at(owner).op == Op::If) continue;
      until = std::max(until, end_of_region_[index_of(k_.at(owner).regions.back())]);
    }
    last_[index_of(v)] = std::max(last_[index_of(v)], until);
  }

  const Kernel& k_;
  std::vector<int> end_of_region_;
  std::vector<int> made_, last_;  // by value
  int now_ = 0, clock_ = 0;
  KernelStats stats_;
};

}  // namespace

KernelStats count_instructions(const Kernel& kernel) { return Counter(kernel).run(); }

}  // namespace mt
