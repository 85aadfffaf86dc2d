// Threadgroups of several simdgroups. Code between barriers is a segment and runs once for every simdgroup; control
// flow that holds a barrier stays outside these loops, its conditions being the same for the whole group.
//
// A value used in a later segment is made again there where that is cheap; else it waits in a slot: one scalar where
// the group agrees on it, one element a simdgroup otherwise. The same walk runs twice, to plan and to emit.
#include <algorithm>

#include "backends/cpu/emitter.h"
#include "mt/base/error.h"
#include "mt/ir/edit.h"

namespace mt::cpu {
namespace {
constexpr int kCheap = 16, kDear = 1000;  // prices of making a value again
}  // namespace

bool Emitter::syncs(const Inst& i) const {
  if (i.op == Op::Barrier || i.op == Op::GroupReduce) return true;
  for (const RegionId r : i.regions)
    for (const InstId inner : kernel_.at(r).insts)
      if (syncs(kernel_.at(inner))) return true;
  return false;
}

/// Whether the group computes it once, outside of the loops over simdgroups.
bool Emitter::on_group_level(const Inst& i) const {
  const bool read =
      i.op == Op::Load && kernel_.at(i.memory).space == Space::Device && kernel_.at(i.memory).access == Access::In;
  if (!read && !is_pure(i)) return false;
  const auto agreed = [&](ValueId v) { return shapes_.of(v).uniform() && shapes_.of(v).level == Uniformity::Group; };
  return std::all_of(i.out.begin(), i.out.end(), agreed) &&
         std::all_of(i.in.begin(), i.in.end(), [&](ValueId v) { return group_value_[index_of(v)] != 0; });
}

int Emitter::price(ValueId v, int depth) const {
  if (group_value_[index_of(v)]) return 0;
  if (slots_.contains(v)) return 2;
  const Inst* def = kernel_.def(v);
  if (!def || depth > 8 || made_in_[index_of(v)] < 0) return kDear;
  const bool read = def->op == Op::Load && kernel_.at(def->memory).space == Space::Device &&
                    kernel_.at(def->memory).access == Access::In;
  if ((!read && !is_pure(*def)) || info(def->op).ulp > 0) return kDear;
  int sum = shapes_.of(v).varying() ? 3 * type(v).lanes : 1;
  if (read && shapes_.of(def->in[0]).varying()) return kDear;
  for (const ValueId in : def->in) sum += price(in, depth + 1);
  return std::min(sum, kDear);
}
bool Emitter::cheap(ValueId v) const { return price(v, 0) <= kCheap; }

void Emitter::make_slot(ValueId v) {
  const Shape& s = shapes_.of(v);
  const El el = memory_el_of(type(v).dtype);
  Slot slot{.per_simd = s.level != Uniformity::Group, .pattern = s.pattern};
  if (slot.per_simd) {
    const std::size_t bytes =
        static_cast<std::size_t>(count(v)) * static_cast<std::size_t>(bytes_of(el) * kernel_.simds());
    slot.pointer = Writer::integer(El::I64, static_cast<std::int64_t>(reserve(bytes)));
  } else {
    slot.pointer = w_.stack(el, count(v));
  }
  slots_[v] = slot;
}

/// Notes that `segment` (or, below zero, the group level) uses v.
void Emitter::need(ValueId v, int segment) {
  if (type(v).is_tile()) return;  // it has its place in the simdgroup's memory
  if (group_value_[index_of(v)]) return;
  const int made = made_in_[index_of(v)];
  if (!slots_.contains(v)) {
    if (made < 0 || made == segment) return;
    if (segment < 0 || !cheap(v)) make_slot(v);
  } else if (made == segment) {
    return;
  }
  if (segment < 0) return;
  auto& list = needs_[static_cast<std::size_t>(segment)];
  if (std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
}

void Emitter::plan_segment(const std::vector<InstId>& insts, const std::vector<ValueId>& tail) {
  needs_.resize(static_cast<std::size_t>(segment_) + 1);
  for (const InstId id : insts)
    for (const ValueId v : kernel_.at(id).out) made_in_[index_of(v)] = segment_;
  const std::function<void(InstId)> uses = [&](InstId id) {
    const Inst& i = kernel_.at(id);
    for (const ValueId v : i.in) need(v, segment_);
    for (const RegionId r : i.regions) {
      for (const InstId inner : kernel_.at(r).insts) uses(inner);
      for (const ValueId v : kernel_.at(r).yields) need(v, segment_);
    }
  };
  for (const InstId id : insts) uses(id);
  for (const ValueId v : tail) need(v, segment_);
}

Ref Emitter::slot_pointer(const Slot& slot, int n, El el) {
  if (!slot.per_simd) return slot.pointer;
  const Ref at =
      w_.bin("add", slot.pointer, w_.bin("mul", simd_, Writer::integer(El::I64, std::int64_t{n} * bytes_of(el))));
  return w_.element({"%scratch", El::Ptr, 1}, El::I8, at);
}

void Emitter::save(ValueId v, const Slot& slot) { put(value_for(v, slot.pattern), type(v), slot); }

void Emitter::put(const Ref& value, Type t, const Slot& slot) {
  const Ref stored = to_memory(value, t.dtype);
  w_.store(stored, slot_pointer(slot, stored.n, stored.el), bytes_of(stored.el));
}

Val Emitter::recall(ValueId v, const Slot& slot) {
  const Type t = type(v);
  const El el = memory_el_of(t.dtype);
  const int n = (slot.pattern == kVarying ? kLanes : 1) * t.lanes;
  return {t, slot.pattern, from_memory(w_.load(el, n, slot_pointer(slot, n, el), bytes_of(el)), t.dtype)};
}

/// Ends the segment: `tail` is emitted in it after the pending instructions and may use the values in `uses`.
void Emitter::flush(std::vector<InstId>& pending, const std::function<void()>& tail, const std::vector<ValueId>& uses) {
  if (pending.empty() && uses.empty()) return;
  if (planning_) {
    plan_segment(pending, uses);
  } else {
    const auto body = [&] {
      for (const ValueId v : needs_[static_cast<std::size_t>(segment_)]) get(v);
      for (const InstId id : pending) inst(id);
      for (const InstId id : pending)
        for (const ValueId v : kernel_.at(id).out)
          if (const auto slot = slots_.find(v); slot != slots_.end()) save(v, slot->second);
      tail();
    };
    const Ref counter = w_.stack(El::I64, 1);
    const std::string head = w_.label("simd"), done = w_.label("simds");
    w_.set(counter, Writer::zero(El::I64));
    w_.place(head);
    simd_ = w_.get(counter, El::I64, 1);
    scope(body);
    const Ref next = w_.bin("add", simd_, Writer::integer(El::I64, 1));
    w_.set(counter, next);
    w_.branch(w_.cmp("icmp ult", next, Writer::integer(El::I64, kernel_.simds())), head, done);
    w_.place(done);
    simd_ = Writer::zero(El::I64);
  }
  ++segment_;
  pending.clear();
}

void Emitter::group_region(RegionId r, const Transfer& leave) {
  simd_ = Writer::zero(El::I64);
  if (kernel_.simds() == 1) {
    if (!planning_) region(r);
    return;
  }
  std::vector<InstId> pending;
  for (const InstId id : kernel_.at(r).insts) {
    const Inst& i = kernel_.at(id);
    if (i.op == Op::Barrier) {
      flush(pending, [] {}, {});
    } else if (i.op == Op::GroupReduce) {
      group_reduce(i, pending);
    } else if (syncs(i)) {
      group_control(i, pending);
    } else if (on_group_level(i)) {
      for (const ValueId v : i.out) group_value_[index_of(v)] = 1;
      if (!planning_) inst(id);
    } else {
      pending.push_back(id);
    }
  }
  flush(
      pending, [&] { transfer(leave, false); }, in_segment(leave));
  if (!planning_) transfer(leave, true);
}

/// Partial results of the simdgroups meet in one vector; its lanes are combined once.
void Emitter::group_reduce(const Inst& i, std::vector<InstId>& pending) {
  const Type t = type(i.out[0]);
  const DType dt = is_float(t.dtype) ? DType::F32 : t.dtype;
  const bool small = dt != t.dtype;
  group_value_[index_of(i.out[0])] = 1;
  if (planning_) return flush(pending, [] {}, {i.in[0]});
  const int n = kLanes * t.lanes;
  const Ref sum = w_.stack(el_of(dt), n);
  w_.set(sum, Writer::constant(dt, identity_of(i.combine, dt), n));
  flush(pending,
        [&] {
          const Ref v = wide(i.in[0]);
          w_.set(sum, combine(i.combine, dt, w_.get(sum, el_of(dt), n), small ? to_f32(v, t.dtype) : v));
        },
        {i.in[0]});
  const Ref r = reduce(i.combine, dt, w_.get(sum, el_of(dt), n), t.lanes);
  define(i.out[0], {t, kUniform, small ? from_f32(r, t.dtype) : r});
}

/// A scalar that the whole group agrees on, wherever it was made.
Ref Emitter::agreed(ValueId v) {
  if (planning_) {
    need(v, -1);
    return {};
  }
  const auto slot = slots_.find(v);
  const Val x = slot != slots_.end() && !group_value_[index_of(v)] ? recall(v, slot->second) : get(v);
  return x.pattern == kVarying ? w_.extract(x.ref, 0) : x.ref;
}

/// A slot for a value that control flow hands on.
void Emitter::hand_slot(ValueId v) {
  if (planning_ && !type(v).is_tile()) make_slot(v);
}

std::vector<ValueId> Emitter::in_segment(const Transfer& t) const {
  std::vector<ValueId> uses;
  for (const auto& [from, to] : t.moves)
    if (!group_value_[index_of(from)]) uses.push_back(from);
  return uses;
}

/// Everything is read before anything is written: values may change places.
void Emitter::transfer(const Transfer& t, bool group_level) {
  std::vector<std::pair<Ref, ValueId>> ready;
  if (!group_level) move_tiles(t.moves);
  for (const auto& [from, to] : t.moves)
    if (!type(to).is_tile() && (group_value_[index_of(from)] != 0) == group_level)
      ready.emplace_back(value_for(from, slots_.at(to).pattern), to);
  for (const auto& [value, to] : ready) {
    const Slot& slot = slots_.at(to);
    if (!group_level || !slot.per_simd) {
      put(value, type(to), slot);
    } else {
      for (int s = 0; s < kernel_.simds(); ++s) {
        simd_ = Writer::integer(El::I64, s);
        put(value, type(to), slot);
      }
      simd_ = Writer::zero(El::I64);
    }
  }
}

/// Brings handed-on values that the group agrees on to group level.
void Emitter::arrive(const std::vector<ValueId>& values) {
  for (const ValueId v : values) {
    if (type(v).is_tile()) continue;
    const Slot& slot = slots_.at(v);
    if (slot.per_simd) continue;
    group_value_[index_of(v)] = 1;
    if (!planning_) define(v, recall(v, slot));
  }
}

void Emitter::group_control(const Inst& i, std::vector<InstId>& pending) {
  const auto region_of = [&](std::size_t n) -> const Region& { return kernel_.at(i.regions[n]); };
  const auto share = [&](ValueId v, ValueId same) {
    if (planning_ && !type(v).is_tile()) slots_[v] = slots_.at(same);
  };
  Transfer enter;
  if (i.op == Op::If) {
    flush(pending, [] {}, {});
    const Ref c = agreed(i.in[0]);
    for (const ValueId v : i.out) hand_slot(v);
    const std::string labels[2] = {w_.label("then"), w_.label("else")}, end = w_.label("fi");
    if (!planning_) w_.branch(c, labels[0], labels[1]);
    for (std::size_t side = 0; side < 2; ++side) {
      if (!planning_) w_.place(labels[side]);
      scope([&] {
        Transfer leave;
        for (std::size_t n = 0; n < i.out.size(); ++n) leave.add(region_of(side).yields[n], i.out[n]);
        group_region(i.regions[side], leave);
      });
      if (!planning_) w_.jump(end);
    }
    if (!planning_) w_.place(end);
    return arrive(i.out);
  }
  const bool is_for = i.op == Op::For;
  const std::size_t skip_in = is_for ? 3 : 0, skip_arg = is_for ? 1 : 0;
  const std::vector<ValueId> args(region_of(0).args.begin() + static_cast<std::ptrdiff_t>(skip_arg),
                                  region_of(0).args.end());
  for (std::size_t n = 0; n < args.size(); ++n) {
    hand_slot(args[n]);
    enter.add(i.in[n + skip_in], args[n]);
  }
  flush(
      pending, [&] { transfer(enter, false); }, in_segment(enter));
  if (!planning_) transfer(enter, true);
  const std::string head = w_.label("loop"), inner = w_.label("do"), done = w_.label("od");
  if (is_for) {
    for (std::size_t n = 0; n < args.size(); ++n) share(i.out[n], args[n]);
    const ValueId index = region_of(0).args[0];
    const Ref begin = agreed(i.in[0]), end = agreed(i.in[1]), step = agreed(i.in[2]);
    group_value_[index_of(index)] = 1;
    Ref slot, now;
    if (!planning_) {
      const DType t = type(index).dtype;
      slot = w_.stack(el_of(t), 1);
      w_.set(slot, begin);
      w_.place(head);
      now = w_.get(slot, el_of(t), 1);
      w_.branch(w_.cmp(is_unsigned(t) ? "icmp ult" : "icmp slt", now, end), inner, done);
      w_.place(inner);
    }
    scope([&] {
      if (!planning_) define(index, {type(index), kUniform, now});
      arrive(args);
      Transfer again;
      for (std::size_t n = 0; n < args.size(); ++n) again.add(region_of(0).yields[n], args[n]);
      group_region(i.regions[0], again);
      if (!planning_) w_.set(slot, w_.bin("add", now, step));
    });
    if (!planning_) {
      w_.jump(head);
      w_.place(done);
    }
    return arrive(i.out);
  }
  for (const ValueId v : i.out) hand_slot(v);
  for (std::size_t n = 0; n < i.out.size(); ++n) share(region_of(1).args[n], i.out[n]);
  if (!planning_) w_.place(head);
  scope([&] {
    arrive(args);
    Transfer pass, again;
    for (std::size_t n = 0; n < i.out.size(); ++n) pass.add(region_of(0).yields[n + 1], i.out[n]);
    group_region(i.regions[0], pass);
    const Ref c = agreed(region_of(0).yields[0]);
    if (!planning_) {
      w_.branch(c, inner, done);
      w_.place(inner);
    }
    arrive(region_of(1).args);
    for (std::size_t n = 0; n < args.size(); ++n) again.add(region_of(1).yields[n], args[n]);
    group_region(i.regions[1], again);
  });
  if (!planning_) {
    w_.jump(head);
    w_.place(done);
  }
  arrive(i.out);
}

}  // namespace mt::cpu
