#include "tests/semantics/shrink.h"

#include <algorithm>
#include <chrono>

#include "mt/ir/verify.h"
#include "tests/semantics/places.h"

namespace mt {
namespace {

using Clock = std::chrono::steady_clock;

bool placed(const Kernel& k, InstId i) { return position(k, i) < k.at(k.at(i).home).insts.size(); }

void take_out(Kernel& k, InstId i) {
  auto& list = k.at(k.at(i).home).insts;
  list.erase(std::remove(list.begin(), list.end(), i), list.end());
}

/// A variable goes with all that sets it; whoever reads it gets its first value.
void drop_variable(Kernel& k, InstId var) {
  const ValueId v = k.at(var).out[0], first = k.at(var).in[0];
  for (const InstId i : in_order(k)) {
    const Inst& inst = k.at(i);
    if ((inst.op != Op::Get && inst.op != Op::Set) || inst.in[0] != v) continue;
    if (inst.op == Op::Get) replace_all(k, inst.out[0], first);
    take_out(k, i);
  }
  take_out(k, var);
}

/// Zeros take the place of what `i` gave.
void drop(Kernel& k, InstId i) {
  if (!placed(k, i)) return;
  if (k.at(i).op == Op::Var) return drop_variable(k, i);
  const std::vector<ValueId> out = k.at(i).out;
  Builder b(k, k.at(i).home, position(k, i));
  for (const ValueId v : out) replace_all(k, v, b.constant(k.type(v), 0));
  take_out(k, i);
}

/// The instructions of `inner` stand where their owner stood.
void open(Kernel& k, InstId owner, RegionId inner) {
  const RegionId home = k.at(owner).home;
  const std::size_t at = position(k, owner);
  const std::vector<InstId> moved = k.at(inner).insts;
  for (const InstId i : moved) k.at(i).home = home;
  auto& list = k.at(home).insts;
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), moved.begin(), moved.end());
  k.at(inner).insts.clear();
}
void open_control(Kernel& k, InstId id, std::size_t way) {
  const Inst i = k.at(id);
  const RegionId inner = i.regions[i.op == Op::If ? way : 0];
  const std::size_t skip = i.op == Op::While ? 1 : 0;
  const std::vector<ValueId> args = k.at(inner).args;
  open(k, id, inner);
  for (std::size_t n = 0; n < args.size(); ++n) {
    const std::size_t from = i.op == Op::For && n > 0 ? n + 2 : n;
    replace_all(k, args[n], i.in[from]);
  }
  const std::vector<ValueId> yields = k.at(inner).yields;
  for (std::size_t n = 0; n < i.out.size(); ++n) replace_all(k, i.out[n], yields[n + skip]);
  take_out(k, id);
}

/// Takes out what nobody looks at.
void tidy(Kernel& k) {
  for (bool changed = true; changed;) {
    changed = false;
    compact(k);
    const std::vector<int> uses = count_uses(k);
    for (const InstId i : in_order(k)) {
      const Inst& inst = k.at(i);
      const Effect effect = info(inst.op).effect;
      if (effect != Effect::Pure && effect != Effect::Reads && effect != Effect::Converges && inst.op != Op::Var)
        continue;
      if (std::any_of(inst.out.begin(), inst.out.end(), [&](ValueId v) { return uses[index_of(v)] > 0; })) continue;
      take_out(k, i);
      changed = true;
    }
  }
  compact(k);
}

class Shrinker {
 public:
  Shrinker(Kernel kernel, const Fails& fails, double seconds)
      : best_(std::move(kernel)),
        fails_(fails),
        until_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  Kernel run() {
    while (pieces() || structure() || constants()) {
    }
    return std::move(best_);
  }

 private:
  bool late() const { return Clock::now() > until_; }

  bool attempt(Kernel k) {
    if (late()) return false;
    tidy(k);
    if (!find_violations(k).empty() || !fails_(k)) return false;
    best_ = std::move(k);
    return true;
  }
  bool smaller(Kernel k) {
    tidy(k);
    return instructions(k) < instructions(best_) && attempt(std::move(k));
  }

  /// Runs of instructions, from half of all down to single ones.
  bool pieces() {
    bool any = false;
    for (std::size_t size = std::max<std::size_t>(1, in_order(best_).size() / 2);; size /= 2) {
      for (std::size_t at = 0; !late();) {
        const std::vector<InstId> list = in_order(best_);
        if (at >= list.size()) break;
        Kernel k = best_;
        for (std::size_t n = at; n < std::min(at + size, list.size()); ++n) drop(k, list[n]);
        if (smaller(std::move(k)))
          any = true;
        else
          at += size;
      }
      if (size <= 1) return any;
    }
  }

  /// Ifs and loops give way to what is in them, values to their operands.
  bool structure() {
    bool any = false;
    for (std::size_t at = 0; at < in_order(best_).size() && !late(); ++at) {
      const InstId id = in_order(best_)[at];
      const Inst i = best_.at(id);
      if (!i.regions.empty()) {
        for (std::size_t way = 0; way < (i.op == Op::If ? 2u : 1u); ++way) {
          Kernel k = best_;
          open_control(k, id, way);
          if (smaller(std::move(k))) {
            any = true;
            break;
          }
        }
      } else if (i.out.size() == 1 && i.op != Op::Get) {
        for (const ValueId v : i.in) {
          if (best_.type(v) != best_.type(i.out[0])) continue;
          Kernel k = best_;
          replace_all(k, i.out[0], v);
          take_out(k, id);
          if (!smaller(std::move(k))) continue;
          any = true;
          break;
        }
      }
    }
    return any;
  }

  /// Constants become 0 or 1.
  bool constants() {
    bool any = false;
    for (std::size_t at = 0; at < in_order(best_).size() && !late(); ++at) {
      const InstId id = in_order(best_)[at];
      const Inst& i = best_.at(id);
      if (i.op != Op::Const) continue;
      const DType t = best_.type(i.out[0]).dtype;
      for (const std::uint64_t bits : {std::uint64_t{0}, bits_of(t, 1.0)}) {
        if (i.bits == bits || i.bits == 0) break;
        Kernel k = best_;
        k.at(id).bits = bits;
        if (!attempt(std::move(k))) continue;
        any = true;
        break;
      }
    }
    return any;
  }

  Kernel best_;
  const Fails& fails_;
  const Clock::time_point until_;
};

}  // namespace

Kernel shrink(Kernel kernel, const Fails& fails, double seconds) {
  return Shrinker(std::move(kernel), fails, seconds).run();
}

std::size_t instructions(const Kernel& kernel) {
  std::size_t n = 0;
  for (const Region& r : kernel.regions) n += r.insts.size();
  return n;
}

}  // namespace mt
