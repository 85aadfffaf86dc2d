#include "backends/cpu/shape.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "mt/base/error.h"
#include "mt/ir/edit.h"

namespace mt::cpu {

namespace {
constexpr std::int64_t kUnset = -1;           // as `multiple`: nothing is known of a region argument yet
constexpr std::int64_t kMaxOffset = 1 << 20;  // beyond it an offset is no index arithmetic but, say, a hash

bool is_index(Type t) { return t.lanes == 1 && is_int(t.dtype) && size_of(t.dtype) >= 4; }
}  // namespace

struct ShapeRules {
  const Kernel& k;
  Shapes& all;
  bool changed = false;

  const Shape& of(ValueId v) const { return all.shapes_[index_of(v)]; }

  static Shape varying() { return {.pattern = kVarying, .level = Uniformity::Varying}; }
  static Shape uniform(Uniformity level) { return {.level = level}; }
  static Shape constant(std::int64_t v) {
    return {
        .multiple = v < 0 ? -v : v, .non_negative = v >= 0, .known = true, .known_base = v, .recipe = Recipe::Constant};
  }

  int intern(const Offsets& o) {
    const auto [it, fresh] = all.index_.try_emplace(o, static_cast<int>(all.table_.size()));
    if (fresh) all.table_.push_back(o);
    return it->second;
  }
  /// `base` with offsets; equal offsets move into the base.
  Shape patterned(Shape base, const Offsets& o) {
    if (std::any_of(o.begin(), o.end(), [](std::int64_t x) { return x > kMaxOffset || x < -kMaxOffset; }))
      return varying();
    if (std::all_of(o.begin(), o.end(), [&](std::int64_t x) { return x == o[0]; })) {
      base.pattern = kUniform;
      base.adjust += o[0];
      base.multiple = std::gcd(base.multiple, o[0]);
      if (base.known) {
        base.known_base += o[0];
        base.multiple = std::abs(base.known_base);
      }
      base.non_negative = base.non_negative && o[0] >= 0;
      return base;
    }
    base.pattern = intern(o);
    base.non_negative = base.non_negative && *std::min_element(o.begin(), o.end()) >= 0;
    return base;
  }
  Offsets offsets(const Shape& s) const { return s.uniform() ? Offsets{} : all.offsets(s.pattern); }

  void set(ValueId v, Shape s) {
    Shape& old = all.shapes_[index_of(v)];
    if (old == s) return;
    old = s;
    changed = true;
  }

  /// What a value is that may come from either.
  Shape join(Shape a, const Shape& b) {
    if (a.pattern != b.pattern) return varying();
    a.level = std::max(a.level, b.level);
    a.multiple = std::gcd(a.multiple, b.multiple);
    a.non_negative = a.non_negative && b.non_negative;
    a.known = a.known && b.known && a.known_base == b.known_base;
    if (!a.known) a.known_base = 0;
    a.recipe = Recipe::Apply;
    a.operand = 0;
    a.adjust = 0;
    return a;
  }
  Shape at_least(Shape s, Uniformity level) {
    s.level = std::max(s.level, level);
    return s;
  }

  Shape index_op(const Inst& i);
  Shape pure(const Inst& i);
  Shape result(const Inst& i, std::size_t n);
  void region(RegionId r);
  void control(const Inst& i);
  bool divergent(const Inst& i) const { return all.divergent(i); }
};

bool Shapes::divergent(const Inst& loop) const {
  if (loop.op == Op::For)
    return std::any_of(loop.in.begin(), loop.in.begin() + 3, [&](ValueId v) { return !of(v).uniform(); });
  return !of(kernel_.at(loop.regions[0]).yields[0]).uniform();
}

/// Integer ops that keep a base and a pattern apart. Answers varying where they mix.
Shape ShapeRules::index_op(const Inst& i) {
  const Shape a = of(i.in[0]), b = i.in.size() > 1 ? of(i.in[1]) : Shape{};
  Shape s{.level = std::max(a.level, b.level), .non_negative = a.non_negative && b.non_negative};
  const Offsets pa = offsets(a), pb = offsets(b);
  const DType t = k.type(i.in[0]).dtype;
  Offsets o{};
  if (a.known && b.known && info(i.op).arity == 2 && info(i.op).type == TypeRule::Same) {
    for (int l = 0; l < kLanes; ++l) {
      const auto bits = evaluate(i.op, t, bits_of(t, static_cast<double>(a.known_base + pa[l])),
                                 bits_of(t, static_cast<double>(b.known_base + pb[l])));
      if (!bits) return varying();
      o[l] = int_value_of(t, *bits);
    }
    s.known = true;
    s.multiple = 0;
    s.non_negative = true;
    s.recipe = Recipe::Constant;
    return patterned(s, o);
  }
  const auto power = [&](std::int64_t c) { return c > 0 && std::has_single_bit(static_cast<std::uint64_t>(c)); };
  // Dividing the base and the offsets apart is exact where the base is a multiple and nothing is negative.
  const bool clean = *std::min_element(pa.begin(), pa.end()) >= 0 && (is_unsigned(t) || a.non_negative);
  const auto divides = [&](std::int64_t d) { return d > 0 && a.multiple % d == 0; };
  switch (i.op) {
    case Op::Add:
    case Op::Sub:
      for (int l = 0; l < kLanes; ++l) o[l] = i.op == Op::Add ? pa[l] + pb[l] : pa[l] - pb[l];
      s.multiple = std::gcd(a.multiple, b.multiple);
      if (i.op == Op::Sub) s.non_negative = false;
      return patterned(s, o);
    case Op::Mul:
      if (!a.uniform() && !b.known) return varying();
      if (!b.uniform() && !a.known) return varying();
      if (!a.uniform() && !b.uniform()) return varying();
      for (int l = 0; l < kLanes; ++l) o[l] = a.uniform() ? a.known_base * pb[l] : pa[l] * b.known_base;
      s.multiple = a.multiple && b.multiple > kMaxOffset * 1024 / a.multiple ? 1 : a.multiple * b.multiple;
      return patterned(s, o);
    case Op::Shl: {
      if (!b.known || !b.uniform() || b.known_base < 0 || b.known_base > 20) return varying();
      for (int l = 0; l < kLanes; ++l) o[l] = pa[l] << b.known_base;
      s.multiple = a.multiple > kMaxOffset * 1024 ? 1 : a.multiple << b.known_base;
      return patterned(s, o);
    }
    case Op::Div:
    case Op::Shr: {
      if (!b.known || !b.uniform() || (i.op == Op::Shr && (b.known_base < 0 || b.known_base > 30))) return varying();
      const std::int64_t d = i.op == Op::Shr ? std::int64_t{1} << b.known_base : b.known_base;
      if (!divides(d) || !clean) return varying();
      for (int l = 0; l < kLanes; ++l) o[l] = pa[l] / d;
      s.multiple = a.multiple / d;
      return patterned(s, o);
    }
    case Op::Rem:
    case Op::And: {
      const int c = b.known && b.uniform() ? 1 : i.op == Op::And && a.known && a.uniform() ? 0 : -1;
      if (c < 0) return varying();
      const Shape& x = c ? a : b;
      const Offsets& px = c ? pa : pb;
      const std::int64_t value = c ? b.known_base : a.known_base, d = i.op == Op::Rem ? value : value + 1;
      const bool low = i.op == Op::Rem || power(d);
      if (low && d > 0 && x.multiple % d == 0 && *std::min_element(px.begin(), px.end()) >= 0 &&
          (is_unsigned(t) || x.non_negative || i.op == Op::And)) {
        for (int l = 0; l < kLanes; ++l) o[l] = px[l] % d;
        s.known = true;
        s.multiple = 0;
        s.non_negative = true;
        s.recipe = Recipe::Constant;
        return patterned(s, o);
      }
      return varying();
    }
    case Op::Or:
    case Op::Xor: {
      if (!b.known || !b.uniform() || b.known_base < 0 || b.known_base >= kMaxOffset) return varying();
      const std::int64_t room = a.multiple & -a.multiple;  // bits below it are clear in the base
      for (int l = 0; l < kLanes; ++l) {
        if (pa[l] < 0 || (room && (pa[l] >= room || b.known_base >= room))) return varying();
        o[l] = i.op == Op::Or ? (pa[l] | b.known_base) : (pa[l] ^ b.known_base);
      }
      s.multiple = a.multiple;
      s.recipe = Recipe::Keep;
      s.non_negative = a.non_negative;
      return patterned(s, o);
    }
    default:
      return varying();
  }
}

Shape ShapeRules::pure(const Inst& i) {
  const Type t = k.type(i.out[0]);
  Uniformity level = Uniformity::Group;
  bool uniform_all = true;
  for (const ValueId v : i.in) {
    if (of(v).varying()) return varying();
    uniform_all = uniform_all && of(v).uniform();
    level = std::max(level, of(v).level);
  }
  if (is_index(t) && (i.op == Op::Cast || i.op == Op::Bitcast) && is_index(k.type(i.in[0]))) {
    Shape s = of(i.in[0]);
    s.recipe = Recipe::Apply;
    s.adjust = 0;
    s.non_negative = s.non_negative || is_unsigned(k.type(i.in[0]).dtype);
    if (i.op == Op::Bitcast) s.non_negative = false;
    return s;
  }
  if (is_index(t) && i.op == Op::Select && of(i.in[0]).uniform())
    return at_least(join(of(i.in[1]), of(i.in[2])), level);
  if (is_index(t) && info(i.op).type == TypeRule::Same && i.in.size() == 2) {
    const Shape s = index_op(i);
    if (!s.varying()) return s;
  }
  return uniform_all ? uniform(level) : varying();
}

Shape ShapeRules::result(const Inst& i, std::size_t n) {
  const Type t = k.type(i.out[n]);
  switch (i.op) {
    case Op::Const:
      if (is_index(t)) return constant(int_value_of(t.dtype, i.bits));
      return uniform(Uniformity::Group);
    case Op::Param: {
      const ScalarParam& p = k.scalars[static_cast<std::size_t>(i.index)];
      return {.multiple = std::max<std::int64_t>(p.multiple_of, 1), .non_negative = is_unsigned(p.dtype)};
    }
    case Op::GroupId:
      return {.non_negative = true};
    case Op::SimdId:
      if (k.simds() == 1) return constant(0);
      return {.level = Uniformity::Simd, .non_negative = true};
    case Op::LaneId:
    case Op::ThreadId: {
      Offsets o;
      std::iota(o.begin(), o.end(), 0);
      Shape s = constant(0);
      if (i.op == Op::ThreadId && k.simds() > 1)
        s = {.level = Uniformity::Simd, .multiple = kLanes, .non_negative = true};
      return patterned(s, o);
    }
    case Op::Load: {
      if (k.at(i.memory).space == Space::Thread || !of(i.in[0]).uniform()) return varying();
      return uniform(of(i.in[0]).level);
    }
    case Op::SimdReduce:
    case Op::SimdBroadcast:
    case Op::SimdShuffleXor:
    case Op::SimdShuffleUp:
    case Op::SimdShuffleDown:
    case Op::SimdShuffle: {
      const Shape& v = of(i.in[0]);
      const bool moves = i.op != Op::SimdReduce && i.op != Op::SimdBroadcast;
      if (v.uniform()) return uniform(v.level);
      if (i.op == Op::SimdShuffle && of(i.in[1]).uniform()) return uniform(Uniformity::Simd);
      return moves ? varying() : uniform(Uniformity::Simd);
    }
    case Op::GroupReduce:
      return uniform(Uniformity::Group);
    case Op::SimdScan:
    case Op::Atomic:
    case Op::Var:
    case Op::Get:
      return varying();
    default:
      return pure(i);
  }
}

void ShapeRules::control(const Inst& i) {
  const auto take = [&](ValueId to, const Shape& s) {
    const Shape old = of(to);
    set(to, join(s, old.multiple == kUnset ? s : old));
  };
  if (i.op == Op::If) {
    const bool split = !of(i.in[0]).uniform();
    for (const RegionId r : i.regions) region(r);
    for (std::size_t n = 0; n < i.out.size(); ++n) {
      const ValueId a = k.at(i.regions[0]).yields[n], b = k.at(i.regions[1]).yields[n];
      set(i.out[n], split ? varying() : at_least(join(of(a), of(b)), of(i.in[0]).level));
    }
    return;
  }
  if (i.op == Op::For) {
    const Region& body = k.at(i.regions[0]);
    const bool split = divergent(i);
    Uniformity trips = Uniformity::Group;
    for (int n = 0; n < 3; ++n) trips = std::max(trips, of(i.in[static_cast<std::size_t>(n)]).level);
    const Shape &begin = of(i.in[0]), &step = of(i.in[2]);
    Shape index = varying();
    if (!begin.varying() && step.uniform()) {
      index = begin;
      index.level = std::max(begin.level, step.level);
      index.multiple = std::gcd(begin.multiple, step.multiple);
      index.non_negative = begin.non_negative && step.non_negative;
      index.known = false;
      index.known_base = 0;
      index.recipe = Recipe::Apply;
      index.adjust = 0;
    }
    set(body.args[0], index);
    for (std::size_t n = 3; n < i.in.size(); ++n)
      take(body.args[n - 2], split ? varying() : at_least(of(i.in[n]), trips));
    for (bool again = true; again;) {
      const bool before = changed;
      changed = false;
      region(i.regions[0]);
      for (std::size_t n = 0; n < body.yields.size(); ++n)
        take(body.args[n + 1], split ? varying() : of(body.yields[n]));
      again = changed;
      changed = changed || before;
    }
    for (std::size_t n = 0; n < i.out.size(); ++n)
      set(i.out[n], split ? varying() : at_least(of(body.args[n + 1]), trips));
    return;
  }
  const Region &test = k.at(i.regions[0]), &body = k.at(i.regions[1]);
  for (std::size_t n = 0; n < i.in.size(); ++n) take(test.args[n], of(i.in[n]));
  for (bool again = true; again;) {
    const bool before = changed;
    changed = false;
    region(i.regions[0]);
    const bool split = divergent(i);
    const Uniformity trips = of(test.yields[0]).level;
    for (std::size_t n = 0; n < body.args.size(); ++n)
      take(body.args[n], split ? varying() : at_least(of(test.yields[n + 1]), trips));
    region(i.regions[1]);
    for (std::size_t n = 0; n < test.args.size(); ++n)
      take(test.args[n], split ? varying() : at_least(of(body.yields[n]), trips));
    again = changed;
    changed = changed || before;
  }
  for (std::size_t n = 0; n < i.out.size(); ++n) set(i.out[n], of(body.args[n]));
}

void ShapeRules::region(RegionId r) {
  for (const InstId id : k.at(r).insts) {
    const Inst& i = k.at(id);
    if (!i.regions.empty())
      control(i);
    else
      for (std::size_t n = 0; n < i.out.size(); ++n) set(i.out[n], result(i, n));
  }
}

Shapes::Shapes(const Kernel& kernel) : kernel_(kernel), shapes_(kernel.values.size()) {
  table_.push_back({});
  index_[{}] = kUniform;
  // A carried value starts from what flows in and only ever gets worse, so the walk ends.
  for (const Region& r : kernel.regions)
    for (const ValueId a : r.args) shapes_[index_of(a)].multiple = kUnset;
  ShapeRules rules{kernel, *this};
  rules.region(RegionId::Root);
}

}  // namespace mt::cpu
