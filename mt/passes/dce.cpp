#include "mt/passes/dce.h"

#include <algorithm>

#include "mt/ir/edit.h"

namespace mt {
namespace {

class Dce {
 public:
  explicit Dce(Kernel& k) : k_(k), live_inst_(k.insts.size()), live_value_(k.values.size()) {}

  bool run() {
    walk(k_, RegionId::Root, [&](InstId id) {
      if (is_root(id)) need(id);
    });
    while (!work_.empty()) {
      const ValueId v = work_.back();
      work_.pop_back();
      follow(v);
    }
    sweep(RegionId::Root);
    return changed_;
  }

 private:
  bool is_root(InstId id) const {
    const Inst& i = k_.at(id);
    switch (info(i.op).effect) {
      case Effect::Writes:
      case Effect::ReadsWrites:
      case Effect::Syncs:
        return true;
      case Effect::Control:
        return i.op == Op::While && watches_memory(i);
      default:
        return false;
    }
  }
  /// Whether the loop reads what another thread may write meanwhile.
  bool watches_memory(const Inst& i) const {
    bool found = false;
    for (const RegionId r : i.regions)
      walk(k_, r, [&](InstId inner) {
        const Inst& load = k_.at(inner);
        if (load.op != Op::Load) return;
        const Memory& m = k_.at(load.memory);
        found = found || m.space == Space::Threadgroup || (m.space == Space::Device && m.access != Access::In);
      });
    return found;
  }

  bool live(InstId i) const { return live_inst_[index_of(i)]; }
  bool live(ValueId v) const { return live_value_[index_of(v)]; }
  void need(ValueId v) {
    if (live(v)) return;
    live_value_[index_of(v)] = true;
    work_.push_back(v);
  }
  /// The instruction runs: its operands are needed, and so is all control flow around. Of a control instruction that is
  /// what decides; initial values are needed with the slot that they start.
  void need(InstId id) {
    while (id != InstId::None && !live(id)) {
      live_inst_[index_of(id)] = true;
      const Inst& i = k_.at(id);
      if (i.op == Op::While) {
        need(k_.at(i.regions[0]).yields[0]);
      } else {
        const std::size_t count = i.op == Op::For ? 3 : i.in.size();
        for (std::size_t n = 0; n < count; ++n) need(i.in[n]);
      }
      id = k_.at(i.home).owner;
    }
  }

  void follow(ValueId v) {
    const ValueInfo& value = k_.at(v);
    const auto n = static_cast<std::size_t>(value.position);
    if (value.def != InstId::None) {
      need(value.def);
      const Inst& i = k_.at(value.def);
      if (i.op == Op::If)
        for (const RegionId r : i.regions) need(k_.at(r).yields[n]);
      if (i.op == Op::For) need_carried(i, n);
      if (i.op == Op::While) need_passed(i, n);
      if (i.op == Op::TileMap) need(k_.at(i.regions[0]).yields[n]);
      return;
    }
    const InstId owner = k_.at(value.region).owner;
    need(owner);
    const Inst& i = k_.at(owner);
    if (i.op == Op::For && n > 0) need_carried(i, n - 1);
    if (i.op == Op::While && value.region == i.regions[0]) {
      need(i.in[n]);
      need(k_.at(i.regions[1]).yields[n]);
    }
    if (i.op == Op::While && value.region == i.regions[1]) need_passed(i, n);
  }
  /// A slot of a for: all its parts live and die together.
  void need_carried(const Inst& i, std::size_t n) {
    const Region& body = k_.at(i.regions[0]);
    need(i.in[n + 3]);
    need(i.out[n]);
    need(body.args[n + 1]);
    need(body.yields[n]);
  }
  void need_passed(const Inst& i, std::size_t n) {
    need(i.out[n]);
    need(k_.at(i.regions[1]).args[n]);
    need(k_.at(i.regions[0]).yields[n + 1]);
  }

  /// Takes the positions that `keep` denies out of a list that starts with `skip` others.
  template <class Keep>
  static void filter(std::vector<ValueId>& list, std::size_t skip, const Keep& keep) {
    std::size_t to = std::min(skip, list.size());
    for (std::size_t n = skip; n < list.size(); ++n)
      if (keep(n - skip)) list[to++] = list[n];
    list.resize(to);
  }
  void renumber(const std::vector<ValueId>& list) {
    for (std::size_t n = 0; n < list.size(); ++n) k_.at(list[n]).position = static_cast<std::int32_t>(n);
  }

  void trim(InstId id) {
    Inst& i = k_.at(id);
    const std::vector<ValueId> out = i.out;
    const auto result_lives = [&](std::size_t n) { return live(out[n]); };
    if (i.op == Op::While) {
      Region &test = k_.at(i.regions[0]), &body = k_.at(i.regions[1]);
      const std::vector<ValueId> args = test.args;
      const auto arg_lives = [&](std::size_t n) { return live(args[n]); };
      const bool args_die = std::any_of(args.begin(), args.end(), [&](ValueId v) { return !live(v); });
      if (args_die) {
        changed_ = true;
        filter(i.in, 0, arg_lives);
        filter(body.yields, 0, arg_lives);
        filter(test.args, 0, arg_lives);
        renumber(test.args);
      }
    }
    if (std::all_of(out.begin(), out.end(), [&](ValueId v) { return live(v); })) return;
    changed_ = true;
    if (i.op == Op::If)
      for (const RegionId r : i.regions) filter(k_.at(r).yields, 0, result_lives);
    if (i.op == Op::For) {
      Region& body = k_.at(i.regions[0]);
      filter(i.in, 3, result_lives);
      filter(body.args, 1, result_lives);
      filter(body.yields, 0, result_lives);
      renumber(body.args);
    }
    if (i.op == Op::While) {
      filter(k_.at(i.regions[0]).yields, 1, result_lives);
      filter(k_.at(i.regions[1]).args, 0, result_lives);
      renumber(k_.at(i.regions[1]).args);
    }
    filter(i.out, 0, result_lives);
    renumber(i.out);
  }

  void sweep(RegionId r) {
    auto& list = k_.at(r).insts;
    const auto dead = std::remove_if(list.begin(), list.end(), [&](InstId i) { return !live(i); });
    changed_ = changed_ || dead != list.end();
    list.erase(dead, list.end());
    for (const InstId i : list) {
      if (info(k_.at(i).op).effect != Effect::Control) continue;
      trim(i);
      for (const RegionId inner : k_.at(i).regions) sweep(inner);
    }
  }

  Kernel& k_;
  std::vector<bool> live_inst_, live_value_;
  std::vector<ValueId> work_;
  bool changed_ = false;
};

}  // namespace

bool dce(Kernel& kernel, const PipelineOptions&) { return Dce(kernel).run(); }

}  // namespace mt
