#include "mt/passes/canonical.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "mt/ir/edit.h"
#include "mt/passes/memory_effects.h"

namespace mt {
namespace {

class Canonical {
 public:
  explicit Canonical(Kernel& k)
      : k_(k), effects_(k), outer_(k.insts.size()), rank_(k.insts.size(), kUnranked), placed_(k.insts.size()) {}

  bool run() {
    region(RegionId::Root);
    return changed_;
  }

 private:
  static constexpr std::size_t kUnranked = std::numeric_limits<std::size_t>::max();
  static constexpr int kAhead = 8;  // blocks of products that are multiplied while operands of the next ones arrive

  static bool is_load(const Inst& i) { return i.op == Op::Load || i.op == Op::LoadMatrix; }
  /// Keeps its place among its like: blocks of products too, whose order decides how many operands are held at a time.
  /// Other instructions go where they are needed.
  static bool is_anchor(const Inst& i) {
    const Effect e = info(i.op).effect;
    return i.op == Op::MmaBlock || i.op == Op::MmaTeam || (e != Effect::Pure && e != Effect::Converges && !is_load(i));
  }

  void region(RegionId r) {
    const std::vector<InstId> list = k_.at(r).insts;
    for (const InstId id : list) {
      for (const RegionId inner : k_.at(id).regions) region(inner);
      if (!k_.at(id).regions.empty()) outer_[index_of(id)] = values_from_outside(k_.at(id));
    }
    const auto demand_yields = [&](const auto& visit) {
      for (const ValueId v : k_.at(r).yields) visit(v);
    };

    // When would each be reached if memory did not matter?
    std::size_t ranks = 0;
    const auto rank = [&](InstId root) {
      demand(
          r, root, [&](InstId i) { return rank_[index_of(i)] != kUnranked; },
          [&](InstId i) { rank_[index_of(i)] = ranks++; });
    };
    for (const InstId id : list)
      if (is_anchor(k_.at(id))) rank(id);
    demand_yields([&](ValueId v) {
      if (in_region(v, r)) rank(k_.at(v).def);
    });

    std::vector<InstId> out, waiting;  // waiting: loads that have been passed and not placed
    const auto place = [&](InstId root) {
      demand(
          r, root, [&](InstId i) { return placed_[index_of(i)]; },
          [&](InstId i) {
            placed_[index_of(i)] = true;
            out.push_back(i);
          });
    };
    for (std::size_t at = 0; at < list.size(); ++at) {
      const InstId id = list[at];
      const Inst& i = k_.at(id);
      if (is_load(i)) waiting.push_back(id);
      if (!is_anchor(i)) continue;
      if (i.op == Op::MmaBlock) soon(list, at, place);
      const Effect e = info(i.op).effect;
      const bool boundary = e == Effect::Control || e == Effect::Syncs;
      const auto stays = [&](InstId load) { return !boundary && !effects_.changes(id, k_.at(load).memory); };
      const auto forced = std::stable_partition(waiting.begin(), waiting.end(), stays);
      std::stable_sort(forced, waiting.end(),
                       [&](InstId a, InstId b) { return rank_[index_of(a)] < rank_[index_of(b)]; });
      for (auto it = forced; it != waiting.end(); ++it) place(*it);
      waiting.erase(forced, waiting.end());
      place(id);
    }
    demand_yields([&](ValueId v) {
      if (in_region(v, r)) place(k_.at(v).def);
    });
    for (const InstId id : list) place(id);  // what nothing needs
    if (out != list) changed_ = true;
    k_.at(r).insts = std::move(out);
  }

  /// Matrix loads that the blocks from `at` on need start some blocks early, unless something stands between that may
  /// change what they read.
  template <class Place>
  void soon(const std::vector<InstId>& list, std::size_t at, const Place& place) const {
    for (int blocks = 0; at < list.size() && blocks <= kAhead; ++at) {
      const Inst& i = k_.at(list[at]);
      if (i.op == Op::MmaBlock) {
        ++blocks;
        for (const std::size_t operand : {1u, 2u})
          for (const InstId load : matrix_loads(i.in[operand], i.home)) place(load);
      } else if (is_anchor(i)) {
        return;
      }
    }
  }
  /// The loads that an operand is put together from; none where it is made otherwise.
  std::vector<InstId> matrix_loads(ValueId v, RegionId r) const {
    if (!in_region(v, r)) return {};
    const Inst* def = k_.def(v);
    if (def->op == Op::LoadMatrix) return {k_.at(v).def};
    std::vector<InstId> loads;
    if (def->op == Op::Pack)
      for (const ValueId lane : def->in) {
        const Inst* from = k_.def(lane);
        const Inst* load = from && from->op == Op::Extract ? k_.def(from->in[0]) : nullptr;
        if (!load || load->op != Op::LoadMatrix || !in_region(from->in[0], r)) return {};
        loads.push_back(k_.at(from->in[0]).def);
      }
    return loads;
  }

  bool in_region(ValueId v, RegionId r) const { return k_.at(v).def != InstId::None && k_.at(k_.at(v).def).home == r; }

  /// Depth first from `root` through what it needs in region `r`: `take` sees each that is not `done`, operands first.
  template <class Done, class Take>
  void demand(RegionId r, InstId root, const Done& done, const Take& take) {
    struct Frame {
      InstId inst;
      std::size_t next = 0;
    };
    if (done(root)) return;
    std::vector<Frame> stack = {{root}};
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const std::vector<ValueId>& in = k_.at(frame.inst).in;
      const std::vector<ValueId>& outer = outer_[index_of(frame.inst)];
      if (frame.next < in.size() + outer.size()) {
        const ValueId v = frame.next < in.size() ? in[frame.next] : outer[frame.next - in.size()];
        ++frame.next;
        if (in_region(v, r) && !done(k_.at(v).def)) stack.push_back({k_.at(v).def});
        continue;
      }
      const InstId i = frame.inst;
      stack.pop_back();
      if (!done(i)) take(i);
    }
  }

  /// Values that the regions of `i` name but do not make, in order of appearance.
  std::vector<ValueId> values_from_outside(const Inst& i) const {
    std::vector<ValueId> list;
    std::unordered_set<ValueId> seen;
    const auto add = [&](const std::vector<ValueId>& values) {
      for (const ValueId v : values)
        if (seen.insert(v).second) list.push_back(v);
    };
    for (const RegionId r : i.regions) {
      for (const ValueId v : k_.at(r).args) seen.insert(v);
      for (const InstId inner : k_.at(r).insts) {
        add(k_.at(inner).in);
        add(outer_[index_of(inner)]);
        for (const ValueId v : k_.at(inner).out) seen.insert(v);
      }
      add(k_.at(r).yields);
    }
    return list;
  }

  Kernel& k_;
  const MemoryEffects effects_;
  std::vector<std::vector<ValueId>> outer_;  // by instruction: what its regions need from outside
  std::vector<std::size_t> rank_;
  std::vector<bool> placed_;
  bool changed_ = false;
};

}  // namespace

bool canonical(Kernel& kernel, const PipelineOptions&) { return Canonical(kernel).run(); }

}  // namespace mt
