#include "backends/cpu/shape.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "backends/backend.h"
#include "backends/cpu/data_values.h"
#include "mt/base/error.h"
#include "mt/ir/edit.h"

namespace mt::cpu {

namespace {
constexpr std::int64_t kUnset = -1;           // as `multiple`: nothing is known of a region argument yet
constexpr std::int64_t kMaxOffset = 1 << 20;  // beyond it an offset is no index arithmetic but, say, a hash

/// The bits of a known integer.
std::uint64_t known_bits(DType t, std::int64_t v) {
  return static_cast<std::uint64_t>(v) & (~0ull >> (64 - 8 * size_of(t)));
}

}  // namespace

struct ShapeRules {
  const Kernel& k;
  Shapes& all;
  bool changed = false;

  const Shape& of(ValueId v) const { return all.shapes_[index_of(v)]; }

  static Shape varying() { return {.pattern = kVarying, .level = Uniformity::Varying}; }
  static Shape uniform(Uniformity level, Type t) {
    return {.level = level, .range = is_index(t) ? full(t.dtype) : kUnknown};
  }
  static Shape constant(std::int64_t v) {
    return {.multiple = v < 0 ? -v : v,
            .non_negative = v >= 0,
            .range = {v, v, true},
            .known = true,
            .known_base = v,
            .recipe = Recipe::Constant};
  }

  int intern(const Offsets& o) {
    const auto [it, fresh] = all.index_.try_emplace(o, static_cast<int>(all.table_.size()));
    if (fresh) all.table_.push_back(o);
    return it->second;
  }
  /// `base` with offsets; equal offsets move into the base.
  Shape patterned(Shape base, const Offsets& o, DType t) {
    base.range = fitted(base.range, t, o);
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
      base.range.low += o[0];
      base.range.high += o[0];
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
    a.range = hull(a.range, b.range);
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
  Shape conversion(const Inst& i);
  /// Whether the result may be taken from a base and offsets that hold only where no lane of `from` wraps.
  bool may_assume(const Inst& i, ValueId from) const {
    return of(from).uniform() || of(from).range.exact || !all.data_[index_of(i.out[0])];
  }
  Shape pure(const Inst& i);
  Shape result(const Inst& i, std::size_t n);
  void region(RegionId r);
  void control(const Inst& i);
  void map(const Inst& i);
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
      const auto bits = evaluate(i.op, t, known_bits(t, a.known_base + pa[l]), known_bits(t, b.known_base + pb[l]));
      if (!bits) return varying();
      o[l] = int_value_of(t, *bits);
    }
    s.range = {0, 0, true};
    s.known = true;
    s.multiple = 0;
    s.non_negative = true;
    s.recipe = Recipe::Constant;
    return patterned(s, o, t);
  }
  const auto power = [&](std::int64_t c) { return c > 0 && std::has_single_bit(static_cast<std::uint64_t>(c)); };
  // Dividing the base and the offsets apart is exact where the base is a multiple and nothing is negative or wraps.
  const auto clean = [](const Shape& x, const Offsets& p) {
    return x.non_negative && *std::min_element(p.begin(), p.end()) >= 0;
  };
  const auto divides = [&](std::int64_t d) { return d > 0 && a.multiple % d == 0; };
  switch (i.op) {
    case Op::Add:
    case Op::Sub:
      for (int l = 0; l < kLanes; ++l) o[l] = i.op == Op::Add ? pa[l] + pb[l] : pa[l] - pb[l];
      s.multiple = std::gcd(a.multiple, b.multiple);
      if (i.op == Op::Sub) s.non_negative = false;
      s.range = combined(i.op, a.range, b.range);
      return patterned(s, o, t);
    case Op::Mul:
      if (!a.uniform() && !b.known) return varying();
      if (!b.uniform() && !a.known) return varying();
      if (!a.uniform() && !b.uniform()) return varying();
      for (int l = 0; l < kLanes; ++l) o[l] = a.uniform() ? a.known_base * pb[l] : pa[l] * b.known_base;
      s.multiple = a.multiple && b.multiple > kMaxOffset * 1024 / a.multiple ? 1 : a.multiple * b.multiple;
      s.range = combined(i.op, a.range, b.range);
      return patterned(s, o, t);
    case Op::Shl: {
      if (!b.known || !b.uniform() || b.known_base < 0 || b.known_base > 20) return varying();
      for (int l = 0; l < kLanes; ++l) o[l] = pa[l] << b.known_base;
      s.multiple = a.multiple > kMaxOffset * 1024 ? 1 : a.multiple << b.known_base;
      s.range = combined(Op::Mul, a.range, constant(std::int64_t{1} << b.known_base).range);
      return patterned(s, o, t);
    }
    case Op::Div:
    case Op::Shr: {
      if (!b.known || !b.uniform() || (i.op == Op::Shr && (b.known_base < 0 || b.known_base > 30))) return varying();
      const std::int64_t d = i.op == Op::Shr ? std::int64_t{1} << b.known_base : b.known_base;
      if (!divides(d) || !clean(a, pa) || !may_assume(i, i.in[0])) return varying();
      for (int l = 0; l < kLanes; ++l) o[l] = pa[l] / d;
      s.multiple = a.multiple / d;
      if (a.range.exact) s.range = {a.range.low / d, a.range.high / d, true};
      return patterned(s, o, t);
    }
    case Op::Rem:
    case Op::And: {
      const int c = b.known && b.uniform() ? 1 : i.op == Op::And && a.known && a.uniform() ? 0 : -1;
      if (c < 0) return varying();
      const Shape& x = c ? a : b;
      const Offsets& px = c ? pa : pb;
      const std::int64_t value = c ? b.known_base : a.known_base, d = i.op == Op::Rem ? value : value + 1;
      // The low bits of what wrapped are right.
      const bool low_bits = power(d) && (is_unsigned(t) || i.op == Op::And);
      const bool rest = i.op == Op::Rem && clean(x, px) && may_assume(i, i.in[0]);
      if (d > 0 && x.multiple % d == 0 && *std::min_element(px.begin(), px.end()) >= 0 && (low_bits || rest)) {
        for (int l = 0; l < kLanes; ++l) o[l] = px[l] % d;
        s.range = {0, 0, true};
        s.known = true;
        s.multiple = 0;
        s.non_negative = true;
        s.recipe = Recipe::Constant;
        return patterned(s, o, t);
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
      s.range = a.range;
      s.recipe = Recipe::Keep;
      s.non_negative = a.non_negative;
      return patterned(s, o, t);
    }
    default:
      return varying();
  }
}

Shape ShapeRules::conversion(const Inst& i) {
  const DType to = k.type(i.out[0]).dtype, from = k.type(i.in[0]).dtype;
  Shape s = of(i.in[0]);
  if (size_of(to) > size_of(from) && !may_assume(i, i.in[0])) return varying();
  s.recipe = Recipe::Apply;
  s.adjust = 0;
  s.non_negative = i.op == Op::Cast && (s.non_negative || (is_unsigned(from) && s.uniform()));
  s.range = fitted(s.range, to, offsets(s));
  return s;
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
  if (is_index(t) && (i.op == Op::Cast || i.op == Op::Bitcast) && is_index(k.type(i.in[0]))) return conversion(i);
  if (is_index(t) && i.op == Op::Select && of(i.in[0]).uniform())
    return at_least(join(of(i.in[1]), of(i.in[2])), level);
  if (is_index(t) && info(i.op).type == TypeRule::Same && i.in.size() == 2) {
    const Shape s = index_op(i);
    if (!s.varying()) return s;
  }
  return uniform_all ? uniform(level, t) : varying();
}

Shape ShapeRules::result(const Inst& i, std::size_t n) {
  const Type t = k.type(i.out[n]);
  switch (i.op) {
    case Op::Const:
      if (!is_index(t)) return uniform(Uniformity::Group, t);
      return patterned(constant(int_value_of(t.dtype, i.bits)), {}, t.dtype);
    case Op::Param: {
      const ScalarParam& p = k.scalars[static_cast<std::size_t>(i.index)];
      return {.multiple = std::max<std::int64_t>(p.multiple_of, 1),
              .non_negative = is_unsigned(p.dtype),
              .range = is_index(t) ? full(t.dtype) : kUnknown};
    }
    case Op::GroupId:
      return {.non_negative = true, .range = {0, Limits{}.max_groups[0] - 1, true}};
    case Op::SimdId:
      if (k.simds() == 1) return constant(0);
      return {.level = Uniformity::Simd, .non_negative = true, .range = {0, k.simds() - 1, true}};
    case Op::LaneId:
    case Op::ThreadId: {
      Offsets o;
      std::iota(o.begin(), o.end(), 0);
      Shape s = constant(0);
      if (i.op == Op::ThreadId && k.simds() > 1)
        s = {.level = Uniformity::Simd,
             .multiple = kLanes,
             .non_negative = true,
             .range = {0, k.threads - kLanes, true}};
      return patterned(s, o, t.dtype);
    }
    case Op::Load: {
      if (k.at(i.memory).space == Space::Thread || !of(i.in[0]).uniform()) return varying();
      return uniform(of(i.in[0]).level, t);
    }
    case Op::SimdReduce:
    case Op::SimdBroadcast:
    case Op::SimdShuffleXor:
    case Op::SimdShuffleUp:
    case Op::SimdShuffleDown:
    case Op::SimdShuffle: {
      const Shape& v = of(i.in[0]);
      const bool moves = i.op != Op::SimdReduce && i.op != Op::SimdBroadcast;
      if (v.uniform()) return uniform(v.level, t);
      if (i.op == Op::SimdShuffle && of(i.in[1]).uniform()) return uniform(Uniformity::Simd, t);
      return moves ? varying() : uniform(Uniformity::Simd, t);
    }
    case Op::GroupReduce:
      return uniform(Uniformity::Group, t);
    case Op::TileFill:
    case Op::TileLoad:
    case Op::TileMma:
    case Op::TileCast:
    case Op::TileReduce:
      return uniform(Uniformity::Simd, t);
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
    Shape now = join(s, old.multiple == kUnset ? s : old);
    if (old.multiple != kUnset && now.range != old.range) now.range = kUnknown;
    set(to, now);
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
      // A lane that goes on is below the end; the others take no more steps than that one.
      const Offsets o = offsets(begin);
      const std::int64_t below = std::max<std::int64_t>(0, -*std::min_element(o.begin(), o.end()));
      const Range most = combined(Op::Add, of(i.in[1]).range, combined(Op::Add, step.range, {below, below, true}));
      index.range = fitted(hull(begin.range, most), k.type(body.args[0]).dtype, o);
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
  if (i.op == Op::TileMap) return map(i);
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

/// Lanes are the columns of one row, or the rows of a rows tile.
void ShapeRules::map(const Inst& i) {
  const Type t = k.type(i.out[0]);
  const Region& body = k.at(i.regions[0]);
  const bool by_row = t.role == TileRole::Rows;
  Offsets lanes;
  std::iota(lanes.begin(), lanes.end(), 0);
  const auto first = [](int count) {
    return Shape{.level = Uniformity::Simd,
                 .multiple = kLanes,
                 .non_negative = true,
                 .range = {0, (count - 1) / kLanes * kLanes, true}};
  };
  const std::size_t tiles = i.in.size();
  for (std::size_t n = 0; n < tiles; ++n)
    set(body.args[n],
        by_row || k.type(i.in[n]).role == TileRole::Acc ? varying() : uniform(Uniformity::Simd, {DType::F32}));
  const Shape across = patterned(first(by_row ? t.rows : t.cols), lanes, DType::U32);
  const Shape row{.level = Uniformity::Simd, .non_negative = true, .range = {0, t.rows - 1, true}};
  set(body.args[tiles], by_row ? across : row);
  set(body.args[tiles + 1], by_row ? constant(0) : across);
  region(i.regions[0]);
  set(i.out[0], uniform(Uniformity::Simd, t));
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

Shapes::Shapes(const Kernel& kernel) : kernel_(kernel), data_(data_values(kernel)), shapes_(kernel.values.size()) {
  table_.push_back({});
  index_[{}] = kUniform;
  // A carried value starts from what flows in and only ever gets worse, so the walk ends.
  for (const Region& r : kernel.regions)
    for (const ValueId a : r.args) shapes_[index_of(a)].multiple = kUnset;
  ShapeRules rules{kernel, *this};
  rules.region(RegionId::Root);
}

}  // namespace mt::cpu
