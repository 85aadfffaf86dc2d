// Structured control flow inside a segment. Uniform conditions branch; where lanes part, a mask says who takes part,
// and a body that is not too long is emitted twice: for all lanes on, without masks, and for some.
#include <algorithm>
#include <utility>

#include "backends/cpu/emitter.h"
#include "mt/base/error.h"

namespace mt::cpu {
namespace {
constexpr int kFlatCost = 24;     // a pure branch up to this is computed on both sides and selected
constexpr int kCopyCost = 700;    // a body up to this may be emitted twice ...
constexpr int kNestedCost = 150;  // ... and inside such a copy once more
}  // namespace

void Emitter::region(RegionId r) {
  for (const InstId id : kernel_.at(r).insts) inst(id);
}

void Emitter::inst(InstId id) {
  const Inst& i = kernel_.at(id);
  if (is_tile_op(i.op)) return tile(i);
  switch (i.op) {
    case Op::If:
      return if_(i);
    case Op::For:
      return for_(i);
    case Op::While:
      return while_(i);
    case Op::Load:
      return load(i);
    case Op::Store:
      return store(i);
    case Op::Atomic:
      return atomic(i);
    case Op::Var:
    case Op::Get:
    case Op::Set:
      return variable(i);
    case Op::CopyAsync:
      return copy_async(i);
    case Op::LoadMatrix:
    case Op::MmaBlock:
    case Op::MmaTeam:
    case Op::MmaWait:
    case Op::MmaFence:
      throw Error(
          fmt::format("[{}] the cpu target has no {}; leave tiles as they are for it", kernel_.name, info(i.op).name));
    case Op::CopyCommit:
    case Op::CopyWait:
    case Op::TileWait:
    case Op::Barrier:
    case Op::SimdBarrier:
      return;                // one thread runs the lanes in lock step
    case Op::GroupReduce: {  // of a single simdgroup
      const Type t = type(i.out[0]);
      return define(i.out[0], {t, kUniform, reduce(i.combine, t.dtype, wide(i.in[0]), t.lanes)});
    }
    default:
      if (!is_pure(i)) return simd(i);
      if (waits(i))
        waiting_.insert(i.out[0]);
      else
        pure(i);
  }
}

/// Whether the vector of a condition is made only where a lane asks for it: branches test the base alone.
bool Emitter::waits(const Inst& i) const {
  if (i.out.size() != 1 || type(i.out[0]) != Type{DType::Bool, 1} || !shapes_.of(i.out[0]).varying()) return false;
  if (i.op == Op::And)
    return std::all_of(i.in.begin(), i.in.end(),
                       [&](ValueId v) { return waiting_.contains(v) || shapes_.of(v).uniform(); });
  const bool ordered = i.op == Op::Lt || i.op == Op::Le || i.op == Op::Gt || i.op == Op::Ge;
  return ordered && !shapes_.of(i.in[0]).varying() && !shapes_.of(i.in[1]).varying();
}

Ref Emitter::any(const Ref& mask) {
  return w_.cmp("icmp ne", w_.bitcast(mask, El::I32, 1), Writer::integer(El::I32, 0));
}
Ref Emitter::all(const Ref& mask) {
  return w_.cmp("icmp eq", w_.bitcast(mask, El::I32, 1), Writer::integer(El::I32, -1));
}

int Emitter::cost(RegionId r) const {
  int sum = 0;
  for (const InstId id : kernel_.at(r).insts) {
    const Inst& i = kernel_.at(id);
    for (const RegionId inner : i.regions) sum += cost(inner);
    const int lanes = i.out.empty() ? 1 : type(i.out[0]).lanes;
    const bool scalar = !i.out.empty() && !shapes_.of(i.out[0]).varying();
    sum += scalar ? 1 : lanes * (info(i.op).ulp > 0 ? 20 : 2);
  }
  return sum;
}

bool Emitter::only_pure(RegionId r) const {
  return std::all_of(kernel_.at(r).insts.begin(), kernel_.at(r).insts.end(),
                     [&](InstId i) { return is_pure(kernel_.at(i)); });
}

// ── if ──

void Emitter::if_(const Inst& i) {
  if (shapes_.of(i.in[0]).uniform() || holds_tiles(i)) return if_uniform(i);
  if (only_pure(i.regions[0]) && only_pure(i.regions[1]) && cost(i.regions[0]) + cost(i.regions[1]) <= kFlatCost)
    return if_flat(i);
  if_varying(i);
}

void Emitter::if_flat(const Inst& i) {
  const Ref c = wide(i.in[0]);
  std::vector<Ref> results[2];
  for (int side = 0; side < 2; ++side)
    scope([&] {
      const RegionId r = i.regions[static_cast<std::size_t>(side)];
      region(r);
      for (const ValueId y : kernel_.at(r).yields) results[side].push_back(wide(y));
    });
  for (std::size_t n = 0; n < i.out.size(); ++n) {
    const Type t = type(i.out[n]);
    define(i.out[n], {t, kVarying, w_.select(repeat(c, t.lanes), results[0][n], results[1][n])});
  }
}

void Emitter::if_uniform(const Inst& i) {
  const Ref c = scalar(i.in[0]);
  std::vector<Ref> slots;
  for (const ValueId v : i.out) slots.push_back(slot_of(v));
  const std::string labels[2] = {w_.label("then"), w_.label("else")}, end = w_.label("fi");
  w_.branch(c, labels[0], labels[1]);
  for (int side = 0; side < 2; ++side) {
    w_.place(labels[side]);
    scope([&] {
      const RegionId r = i.regions[static_cast<std::size_t>(side)];
      region(r);
      Transfer leave;
      for (std::size_t n = 0; n < i.out.size(); ++n) {
        const ValueId y = kernel_.at(r).yields[n];
        leave.add(y, i.out[n]);
        if (!type(y).is_tile()) w_.set(slots[n], value_for(y, shapes_.of(i.out[n]).pattern));
      }
      move_tiles(leave.moves);
    });
    w_.jump(end);
  }
  w_.place(end);
  for (std::size_t n = 0; n < i.out.size(); ++n) take(i.out[n], slots[n]);
}

/// A stack slot for a value that control flow hands on; none for a tile.
Ref Emitter::slot_of(ValueId v) { return type(v).is_tile() ? Ref{} : w_.stack(el_of(type(v).dtype), count(v)); }
void Emitter::take(ValueId v, const Ref& slot) { take_as(v, v, slot); }
/// The value from a slot that was made for another one.
void Emitter::take_as(ValueId v, ValueId made_for, const Ref& slot) {
  if (type(v).is_tile()) return;
  define(v, {type(v), shapes_.of(made_for).pattern, w_.get(slot, el_of(type(v).dtype), count(made_for))});
}

void Emitter::if_varying(const Inst& i) {
  const RegionId sides[2] = {i.regions[0], i.regions[1]};
  std::vector<Ref> slots;
  for (const ValueId v : i.out) slots.push_back(w_.stack(el_of(type(v).dtype), kLanes * type(v).lanes));
  const std::string end = w_.label("fi");
  const std::optional<Ref> outer = mask_;
  const int price = cost(sides[0]);
  const bool twice = !outer && price <= (copies_ == 0 ? kCopyCost : kNestedCost) && copies_ < 2;
  if (twice) {
    const std::string fast = w_.label("all"), slow = w_.label("some");
    const std::optional<Ref> test = all_on(i.in[0]);
    w_.branch(test ? *test : all(wide(i.in[0])), fast, slow);
    w_.place(fast);
    ++copies_;
    scope([&] {
      region(sides[0]);
      for (std::size_t n = 0; n < i.out.size(); ++n) w_.set(slots[n], wide(kernel_.at(sides[0]).yields[n]));
    });
    w_.jump(end);
    w_.place(slow);
  }
  scope([&] {
    const Ref c = wide(i.in[0]);
    for (std::size_t n = 0; n < i.out.size(); ++n)
      w_.set(slots[n], Writer::zero(el_of(type(i.out[n]).dtype), kLanes * type(i.out[n]).lanes));
    for (int side = 0; side < 2; ++side) {
      const Region& r = kernel_.at(sides[side]);
      if (r.insts.empty() && r.yields.empty()) continue;
      const Ref taken = side ? w_.bin("xor", c, Writer::integer(El::I1, 1, kLanes)) : c;
      mask_ = outer ? w_.bin("and", *outer, taken) : taken;
      const std::string body = w_.label(side ? "else" : "then"), next = w_.label("next");
      w_.branch(any(*mask_), body, next);
      w_.place(body);
      scope([&] {
        region(sides[side]);
        for (std::size_t n = 0; n < i.out.size(); ++n) {
          const Ref y = wide(r.yields[n]);
          w_.set(slots[n], side ? w_.select(lane_mask(type(i.out[n]).lanes), y, w_.get(slots[n], y.el, y.n)) : y);
        }
      });
      w_.jump(next);
      w_.place(next);
    }
  });
  if (twice) --copies_;
  mask_ = outer;
  w_.place(end);
  for (std::size_t n = 0; n < i.out.size(); ++n) {
    const Type t = type(i.out[n]);
    define(i.out[n], {t, kVarying, w_.get(slots[n], el_of(t.dtype), kLanes * t.lanes)});
  }
}

/// Whether index + offset < end, or <= end, on the base: exact though the index is narrow.
Ref Emitter::below(const Ref& index, std::int64_t low, std::int64_t high, const Ref& end, DType t, bool or_equal) {
  const char* ext = is_unsigned(t) ? "zext" : "sext";
  const Ref b = w_.cast(ext, index, El::I64), e = w_.cast(ext, end, El::I64);
  Ref test = w_.cmp(or_equal ? "icmp sle" : "icmp slt", high ? w_.bin("add", b, Writer::integer(El::I64, high)) : b, e);
  if (low < 0 && is_unsigned(t)) test = w_.bin("and", test, w_.cmp("icmp sge", b, Writer::integer(El::I64, -low)));
  return test;
}

std::optional<Ref> Emitter::all_on(ValueId condition) {
  const Inst* def = kernel_.def(condition);
  if (!def) return std::nullopt;
  if (shapes_.of(condition).uniform()) return base(condition);
  if (def->op == Op::And) {
    const auto a = all_on(def->in[0]);
    if (!a) return std::nullopt;
    const auto b = all_on(def->in[1]);
    if (!b) return std::nullopt;
    return w_.bin("and", *a, *b);
  }
  if (def->op != Op::Lt && def->op != Op::Le && def->op != Op::Gt && def->op != Op::Ge) return std::nullopt;
  const bool swapped = def->op == Op::Gt || def->op == Op::Ge;
  const ValueId x = def->in[swapped ? 1 : 0], y = def->in[swapped ? 0 : 1];  // x < y or x <= y
  if (shapes_.of(x).pattern <= kUniform || !shapes_.of(y).uniform()) return std::nullopt;
  const Offsets& o = shapes_.offsets(shapes_.of(x).pattern);
  const auto [lo, hi] = std::minmax_element(o.begin(), o.end());
  return below(base(x), *lo, *hi, base(y), type(x).dtype, def->op == Op::Le || def->op == Op::Ge);
}

// ── for ──

void Emitter::for_(const Inst& i) {
  if (shapes_.divergent(i) && !holds_tiles(i))
    for_divergent(i);
  else
    for_uniform(i);
}

void Emitter::for_uniform(const Inst& i) {
  const Region& body = kernel_.at(i.regions[0]);
  const DType it = type(i.in[0]).dtype;
  const Ref end = scalar(i.in[1]), step = scalar(i.in[2]);
  const Ref index = w_.stack(el_of(it), 1);
  w_.set(index, scalar(i.in[0]));
  std::vector<Ref> slots;
  Transfer enter, again;
  for (std::size_t n = 0; n < i.out.size(); ++n) {
    const ValueId a = body.args[n + 1];
    slots.push_back(slot_of(a));
    enter.add(i.in[n + 3], a);
    again.add(body.yields[n], a);
    if (!type(a).is_tile()) w_.set(slots.back(), value_for(i.in[n + 3], shapes_.of(a).pattern));
  }
  move_tiles(enter.moves);
  const std::string head = w_.label("for"), inner = w_.label("do"), done = w_.label("od");
  w_.place(head);
  const Ref now = w_.get(index, el_of(it), 1);
  w_.branch(w_.cmp(is_unsigned(it) ? "icmp ult" : "icmp slt", now, end), inner, done);
  w_.place(inner);
  scope([&] {
    define(body.args[0], {type(body.args[0]), kUniform, now});
    for (std::size_t n = 0; n < slots.size(); ++n) take(body.args[n + 1], slots[n]);
    const std::optional<Trip> outer = std::exchange(trip_, Trip{kernel_.at(i.regions[0]).owner, now, end, step});
    region(i.regions[0]);
    trip_ = outer;
    hand_on(again, slots);
    w_.set(index, w_.bin("add", now, step));
  });
  w_.jump(head);
  w_.place(done);
  for (std::size_t n = 0; n < slots.size(); ++n) take_as(i.out[n], body.args[n + 1], slots[n]);
}

/// Everything is read before anything is written: values may change places.
void Emitter::hand_on(const Transfer& t, const std::vector<Ref>& slots) {
  std::vector<Ref> next;
  for (const auto& [from, to] : t.moves)
    next.push_back(type(to).is_tile() ? Ref{} : value_for(from, shapes_.of(to).pattern));
  for (std::size_t n = 0; n < next.size(); ++n)
    if (!type(t.moves[n].second).is_tile()) w_.set(slots[n], next[n]);
  move_tiles(t.moves);
}

/// Lanes leave at different times. While the last lane is in range the body runs without a mask; then with one until
/// no lane is left.
void Emitter::for_divergent(const Inst& i) {
  const Region& body = kernel_.at(i.regions[0]);
  const DType it = type(i.in[0]).dtype;
  const El el = el_of(it);
  const int pattern = shapes_.of(body.args[0]).pattern;
  const std::optional<Ref> outer = mask_;
  const Ref step = value_for(i.in[2], pattern);
  const Ref end = shapes_.of(i.in[1]).uniform() ? base(i.in[1]) : wide(i.in[1]);
  const Ref wide_end = wide(i.in[1]);
  const int n_index = pattern == kVarying ? kLanes : 1;
  const Ref index = w_.stack(el, n_index);
  w_.set(index, value_for(i.in[0], pattern));
  std::vector<Ref> slots;
  for (std::size_t n = 1; n < body.args.size(); ++n) {
    slots.push_back(w_.stack(el_of(type(body.args[n]).dtype), kLanes * type(body.args[n]).lanes));
    w_.set(slots.back(), wide(i.in[n + 2]));
  }
  const auto carried = [&](std::size_t n) {
    const Type t = type(body.args[n + 1]);
    return Val{t, kVarying, w_.get(slots[n], el_of(t.dtype), kLanes * t.lanes)};
  };
  const auto turn = [&](const Ref& now) {
    scope([&] {
      define(body.args[0], {type(body.args[0]), pattern, now});
      for (std::size_t n = 0; n < slots.size(); ++n) define(body.args[n + 1], carried(n));
      region(i.regions[0]);
      std::vector<Ref> next;
      for (std::size_t n = 0; n < slots.size(); ++n) {
        const Ref y = wide(body.yields[n]);
        next.push_back(mask_ ? w_.select(lane_mask(type(body.args[n + 1]).lanes), y, carried(n).ref) : y);
      }
      for (std::size_t n = 0; n < slots.size(); ++n) w_.set(slots[n], next[n]);
      w_.set(index, w_.bin("add", now, step));
    });
  };
  const bool twice = !outer && pattern != kVarying && end.n == 1 && copies_ < 2 &&
                     cost(i.regions[0]) <= (copies_ == 0 ? kCopyCost : kNestedCost);
  if (twice) {
    ++copies_;
    const std::string head = w_.label("for_all"), inner = w_.label("do_all"), rest = w_.label("rest");
    w_.place(head);
    const Ref now = w_.get(index, el, 1);
    const Offsets& o = shapes_.offsets(pattern);
    const auto [lo, hi] = std::minmax_element(o.begin(), o.end());
    w_.branch(below(now, *lo, *hi, end, it, false), inner, rest);
    w_.place(inner);
    turn(now);
    w_.jump(head);
    w_.place(rest);
  }
  const std::string head = w_.label("for_some"), inner = w_.label("do_some"), done = w_.label("od");
  w_.place(head);
  scope([&] {
    const Ref now = w_.get(index, el, n_index);
    const Ref all_now = widen({type(body.args[0]), pattern, now});
    const Ref on = w_.cmp(is_unsigned(it) ? "icmp ult" : "icmp slt", all_now, wide_end);
    mask_ = outer ? w_.bin("and", *outer, on) : on;
    w_.branch(any(*mask_), inner, done);
    w_.place(inner);
    turn(now);
  });
  mask_ = outer;
  if (twice) --copies_;
  w_.jump(head);
  w_.place(done);
  for (std::size_t n = 0; n < slots.size(); ++n) define(i.out[n], carried(n));
}

// ── while ──

void Emitter::while_(const Inst& i) {
  if (shapes_.divergent(i) && !holds_tiles(i))
    while_divergent(i);
  else
    while_uniform(i);
}

void Emitter::while_uniform(const Inst& i) {
  const Region &test = kernel_.at(i.regions[0]), &body = kernel_.at(i.regions[1]);
  std::vector<Ref> carried, passed;
  Transfer enter, pass, again;
  for (std::size_t n = 0; n < i.in.size(); ++n) {
    carried.push_back(slot_of(test.args[n]));
    enter.add(i.in[n], test.args[n]);
    again.add(body.yields[n], test.args[n]);
  }
  for (std::size_t n = 0; n < i.out.size(); ++n) {
    passed.push_back(slot_of(i.out[n]));
    pass.add(test.yields[n + 1], i.out[n]);
  }
  hand_on(enter, carried);
  const std::string head = w_.label("while"), inner = w_.label("do"), done = w_.label("od");
  w_.place(head);
  scope([&] {
    for (std::size_t n = 0; n < carried.size(); ++n) take(test.args[n], carried[n]);
    region(i.regions[0]);
    hand_on(pass, passed);
    w_.branch(scalar(test.yields[0]), inner, done);
    w_.place(inner);
    for (std::size_t n = 0; n < passed.size(); ++n) take_as(body.args[n], i.out[n], passed[n]);
    region(i.regions[1]);
    hand_on(again, carried);
  });
  w_.jump(head);
  w_.place(done);
  for (std::size_t n = 0; n < passed.size(); ++n) take(i.out[n], passed[n]);
}

/// A lane that has left keeps what it passed on last.
void Emitter::while_divergent(const Inst& i) {
  const Region &test = kernel_.at(i.regions[0]), &body = kernel_.at(i.regions[1]);
  const std::optional<Ref> outer = mask_;
  const auto slots_for = [&](const std::vector<ValueId>& values) {
    std::vector<Ref> slots;
    for (const ValueId v : values) slots.push_back(w_.stack(el_of(type(v).dtype), kLanes * type(v).lanes));
    return slots;
  };
  const auto val = [&](ValueId v, const Ref& slot) {
    return Val{type(v), kVarying, w_.get(slot, el_of(type(v).dtype), kLanes * type(v).lanes)};
  };
  const std::vector<Ref> carried = slots_for(test.args), passed = slots_for(i.out);
  const Ref active = w_.stack(El::I1, kLanes);
  w_.set(active, outer ? *outer : Writer::integer(El::I1, 1, kLanes));
  for (std::size_t n = 0; n < i.in.size(); ++n) w_.set(carried[n], wide(i.in[n]));
  for (std::size_t n = 0; n < i.out.size(); ++n)
    w_.set(passed[n], Writer::zero(el_of(type(i.out[n]).dtype), kLanes * type(i.out[n]).lanes));
  const std::string head = w_.label("while"), inner = w_.label("do"), done = w_.label("od");
  w_.place(head);
  scope([&] {
    mask_ = w_.get(active, El::I1, kLanes);
    for (std::size_t n = 0; n < test.args.size(); ++n) define(test.args[n], val(test.args[n], carried[n]));
    region(i.regions[0]);
    for (std::size_t n = 0; n < i.out.size(); ++n) {
      const Ref y = wide(test.yields[n + 1]);
      w_.set(passed[n], w_.select(lane_mask(type(i.out[n]).lanes), y, w_.get(passed[n], y.el, y.n)));
    }
    mask_ = w_.bin("and", *mask_, wide(test.yields[0]));
    w_.set(active, *mask_);
    w_.branch(any(*mask_), inner, done);
    w_.place(inner);
    for (std::size_t n = 0; n < body.args.size(); ++n) define(body.args[n], val(body.args[n], passed[n]));
    region(i.regions[1]);
    std::vector<Ref> next;
    for (const ValueId y : body.yields) next.push_back(wide(y));
    for (std::size_t n = 0; n < next.size(); ++n) w_.set(carried[n], next[n]);
  });
  mask_ = outer;
  w_.jump(head);
  w_.place(done);
  for (std::size_t n = 0; n < i.out.size(); ++n) define(i.out[n], val(i.out[n], passed[n]));
}

}  // namespace mt::cpu
