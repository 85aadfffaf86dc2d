#include "mt/passes/licm.h"

#include <algorithm>

#include "mt/ir/edit.h"
#include "mt/passes/memory_effects.h"

namespace mt {
namespace {

class Licm {
 public:
  explicit Licm(Kernel& k) : k_(k), effects_(k) {}

  bool run() {
    region(RegionId::Root);
    return changed_;
  }

 private:
  /// Inner loops first: what leaves them may leave the outer one too.
  void region(RegionId r) {
    std::vector<InstId> list;
    for (const InstId id : k_.at(r).insts) {
      for (const RegionId inner : k_.at(id).regions) region(inner);
      const Op op = k_.at(id).op;
      if (op == Op::For || op == Op::While || op == Op::TileMap) {
        loop_ = id;
        to_ = r;
        const bool runs = op != Op::For || surely_runs(k_.at(id));
        for (std::size_t n = 0; n < k_.at(id).regions.size(); ++n) hoist(k_.at(id).regions[n], runs && n == 0, list);
      }
      list.push_back(id);
    }
    k_.at(r).insts = std::move(list);
  }

  bool surely_runs(const Inst& loop) const {
    const Inst *begin = k_.def(loop.in[0]), *end = k_.def(loop.in[1]);
    if (!begin || !end || begin->op != Op::Const || end->op != Op::Const) return false;
    return *evaluate(Op::Lt, k_.type(loop.in[0]).dtype, begin->bits, end->bits) != 0;
  }

  bool inside_loop(ValueId v) const {
    for (RegionId r = k_.home(v); r != RegionId::None && r != to_; r = k_.parent(r))
      if (k_.at(r).owner == loop_) return true;
    return false;
  }

  void hoist(RegionId r, bool runs, std::vector<InstId>& before) {
    auto& list = k_.at(r).insts;
    std::size_t kept = 0;
    for (const InstId id : list) {
      Inst& i = k_.at(id);
      const bool movable =
          info(i.op).effect == Effect::Pure || (i.op == Op::Load && runs && !effects_.changes(loop_, i.memory));
      if (movable && std::none_of(i.in.begin(), i.in.end(), [&](ValueId v) { return inside_loop(v); })) {
        i.home = to_;
        before.push_back(id);
        changed_ = true;
        continue;
      }
      list[kept++] = id;
      if (i.op == Op::If || i.op == Op::TileMap)
        for (const RegionId inner : i.regions) hoist(inner, runs && i.op == Op::TileMap, before);
    }
    list.resize(kept);
  }

  Kernel& k_;
  const MemoryEffects effects_;
  InstId loop_ = InstId::None;    // being emptied
  RegionId to_ = RegionId::None;  // around it
  bool changed_ = false;
};

}  // namespace

bool licm(Kernel& kernel, const PipelineOptions&) { return Licm(kernel).run(); }

}  // namespace mt
