#include "mt/ir/uniformity.h"

#include <algorithm>

#include "mt/ir/opcode.h"

namespace mt {
namespace {

using U = Uniformity;

/// Everything starts as Group and is lowered until nothing changes. What a value may differ by:
/// - pure ops: what their operands differ by;
/// - results of an if: what is yielded, and the condition that chose;
/// - a loop's index: begin and step. Carried values: initial and next values, compared in the same iteration; a loop's
///   results also differ where the number of trips does;
/// - loads: the index. Threads that load one element before they next meet at a barrier load one value: whoever wrote
///   it meanwhile would race with one of them. Device memory with atomics may be watched on purpose: Varying;
/// - arrays of one thread, and variables: all that is ever stored there, with the conditions under which it is stored.
class Analysis {
 public:
  explicit Analysis(const Kernel& k)
      : k_(k),
        of_(k.values.size(), U::Group),
        array_(k.memories.size(), U::Group),
        watched_(k.memories.size(), false),
        depth_(k.values.size(), 0) {
    for (const Inst& i : k.insts)
      if (i.op == Op::Atomic && k.at(i.memory).space == Space::Device) watched_[index_of(i.memory)] = true;
  }

  std::vector<U> run() {
    do {
      changed_ = false;
      region(RegionId::Root);
    } while (changed_);
    return std::move(of_);
  }

 private:
  U at(ValueId v) const { return of_[index_of(v)]; }
  U join(const std::vector<ValueId>& list) const {
    U u = U::Group;
    for (const ValueId v : list) u = std::max(u, at(v));
    return u;
  }
  /// With one simdgroup, what is the same in the simdgroup is the same in the threadgroup.
  U normal(U u) const { return u == U::Simd && k_.simds() == 1 ? U::Group : u; }
  void lower(U& slot, U to) {
    to = normal(to);
    if (to <= slot) return;
    slot = to;
    changed_ = true;
  }
  void lower(ValueId v, U to) { lower(of_[index_of(v)], to); }
  U control(std::size_t from = 0) const {
    U u = U::Group;
    for (std::size_t i = from; i < control_.size(); ++i) u = std::max(u, control_[i]);
    return u;
  }

  void region(RegionId r) {
    for (const InstId i : k_.at(r).insts) inst(k_.at(i));
  }
  void region_under(RegionId r, U condition) {
    control_.push_back(condition);
    region(r);
    control_.pop_back();
  }

  void inst(const Inst& i) {
    switch (info(i.op).effect) {
      case Effect::Control:
        return i.op == Op::If ? if_(i) : i.op == Op::For ? for_(i) : i.op == Op::While ? while_(i) : map_(i);
      case Effect::Pure:
        break;
      default:
        return effect(i);
    }
    U u = join(i.in);
    if (i.op == Op::SimdId) u = U::Simd;
    if (i.op == Op::ThreadId || i.op == Op::LaneId) u = U::Varying;
    for (const ValueId v : i.out) lower(v, u);
  }

  void effect(const Inst& i) {
    switch (i.op) {
      case Op::Var:
        depth_[index_of(i.out[0])] = control_.size();
        return lower(i.out[0], at(i.in[0]));
      case Op::Get:
        return lower(i.out[0], at(i.in[0]));
      case Op::Set:
        return lower(i.in[0], std::max(at(i.in[1]), control(depth_[index_of(i.in[0])])));
      case Op::Load:
        return lower(i.out[0], std::max(at(i.in[0]), memory(i.memory)));
      case Op::Store:
        if (k_.at(i.memory).space == Space::Thread) lower(array_[index_of(i.memory)], std::max(join(i.in), control()));
        return;
      case Op::SimdReduce:
      case Op::SimdBroadcast:
        return lower(i.out[0], std::min(at(i.in[0]), U::Simd));
      case Op::SimdShuffle:
        return lower(i.out[0], at(i.in[0]) == U::Varying ? std::max(U::Simd, at(i.in[1])) : at(i.in[0]));
      case Op::SimdShuffleXor:
      case Op::SimdShuffleUp:
      case Op::SimdShuffleDown:
        return lower(i.out[0], at(i.in[0]));
      case Op::TileFill:
      case Op::TileLoad:
      case Op::TileMma:
      case Op::TileCast:
      case Op::TileReduce:
        return lower(i.out[0], U::Simd);
      case Op::GroupReduce:
        return;
      default:  // atomics, scans, blocks of tiles
        for (const ValueId v : i.out) lower(v, U::Varying);
    }
  }

  U memory(MemoryId m) const {
    if (watched_[index_of(m)]) return U::Varying;
    return k_.at(m).space == Space::Thread ? array_[index_of(m)] : U::Group;
  }

  void if_(const Inst& i) {
    const U condition = at(i.in[0]);
    for (const RegionId r : i.regions) region_under(r, condition);
    for (std::size_t n = 0; n < i.out.size(); ++n) {
      U u = condition;
      for (const RegionId r : i.regions) u = std::max(u, at(k_.at(r).yields[n]));
      lower(i.out[n], u);
    }
  }

  void for_(const Inst& i) {
    const Region& body = k_.at(i.regions[0]);
    const U trips = std::max({at(i.in[0]), at(i.in[1]), at(i.in[2])});
    lower(body.args[0], std::max(at(i.in[0]), at(i.in[2])));
    const auto carry = [&](std::size_t n) { return std::max(at(i.in[n + 3]), at(body.yields[n])); };
    for (std::size_t n = 0; n < i.out.size(); ++n) lower(body.args[n + 1], carry(n));
    region_under(i.regions[0], trips);
    for (std::size_t n = 0; n < i.out.size(); ++n) {
      lower(body.args[n + 1], carry(n));
      lower(i.out[n], std::max(trips, carry(n)));
    }
  }

  void while_(const Inst& i) {
    const Region &test = k_.at(i.regions[0]), &body = k_.at(i.regions[1]);
    const auto carry = [&] {
      for (std::size_t n = 0; n < i.in.size(); ++n) lower(test.args[n], std::max(at(i.in[n]), at(body.yields[n])));
    };
    carry();
    region_under(i.regions[0], at(test.yields[0]));
    const U condition = at(test.yields[0]);
    for (std::size_t n = 0; n < i.out.size(); ++n) lower(body.args[n], at(test.yields[n + 1]));
    region_under(i.regions[1], condition);
    carry();
    for (std::size_t n = 0; n < i.out.size(); ++n) lower(i.out[n], std::max(condition, at(test.yields[n + 1])));
  }

  /// A lane does not stand for an element: what the region computes differs, the tile is the simdgroup's.
  void map_(const Inst& i) {
    for (const ValueId v : k_.at(i.regions[0]).args) lower(v, U::Varying);
    region_under(i.regions[0], U::Group);
    for (const ValueId v : i.out) lower(v, U::Simd);
  }

  const Kernel& k_;
  std::vector<U> of_;
  std::vector<U> array_;            // by memory: what thread arrays hold
  std::vector<bool> watched_;       // by memory
  std::vector<std::size_t> depth_;  // by variable: how deep in control flow it was declared
  std::vector<U> control_;
  bool changed_ = false;
};

}  // namespace

std::vector<Uniformity> uniformity(const Kernel& kernel) { return Analysis(kernel).run(); }

}  // namespace mt
