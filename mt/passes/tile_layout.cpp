#include "mt/passes/tile_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "mt/base/error.h"

namespace mt {
namespace {

/// A fill has the same element everywhere: it takes whatever layout its use has.
bool is_fill(const Kernel& k, ValueId v) {
  const Inst* def = k.def(v);
  return def && def->op == Op::TileFill;
}

}  // namespace

BlockLayout rows_layout(const BlockLayout& acc) {
  BlockLayout rows{acc.rows, 1, acc.row, {}, {}};
  for (const auto& e : acc.elements)
    if (std::none_of(rows.elements.begin(), rows.elements.end(), [&](const auto& r) { return r[0] == e[0]; }))
      rows.elements.push_back({e[0], 0});
  return rows;
}

std::vector<int> bits_within_row(const BlockLayout& layout) {
  std::vector<int> bits;
  for (int b = 0; b < static_cast<int>(layout.row.size()); ++b)
    if (layout.row[static_cast<std::size_t>(b)] == 0) bits.push_back(b);
  return bits;
}

ValueId lane_offset(Builder& b, const std::array<int, 5>& weights) {
  const auto number = [&](int n) { return b.constant_int(DType::U32, n); };
  const ValueId lane = b.value({.op = Op::LaneId}, {DType::U32});
  ValueId sum = ValueId::None;
  const int bits = static_cast<int>(weights.size());
  const auto weight = [&](int bit) { return weights[static_cast<std::size_t>(bit)]; };
  for (int first = 0; first < bits;) {
    int end = first + 1;  // a run of bits whose weights double is a number of its own
    while (end < bits && weight(first) != 0 && weight(end) == 2 * weight(end - 1)) ++end;
    if (weight(first) != 0) {
      ValueId part = first == 0 ? lane : b.binary(Op::Shr, lane, number(first));
      if (end < bits) part = b.binary(Op::And, part, number((1 << (end - first)) - 1));
      if (weight(first) != 1) part = b.binary(Op::Mul, part, number(weight(first)));
      sum = sum == ValueId::None ? part : b.binary(Op::Add, sum, part);
    }
    first = end;
  }
  return sum == ValueId::None ? number(0) : sum;
}

TileUnits::TileUnits(const Kernel& k, const TileLowering& options)
    : k_(k),
      options_(options),
      parent_(k.values.size()),
      unit_(k.values.size(), -1),
      for_(k.values.size(), DType::F32) {
  for (std::size_t v = 0; v < parent_.size(); ++v) parent_[v] = static_cast<int>(v);
  walk(k, RegionId::Root, [&](InstId i) { collect(i); });
  // Only now is each unit known.
  walk(k, RegionId::Root, [&](InstId i) {
    for (const ValueId v : k.at(i).out)
      if (k.type(v).is_tile() && !is_fill(k, v)) check(v);
  });
}

int TileUnits::root(ValueId v) const {
  int at = static_cast<int>(index_of(v));
  while (parent_[static_cast<std::size_t>(at)] != at)
    at = parent_[static_cast<std::size_t>(at)] =
        parent_[static_cast<std::size_t>(parent_[static_cast<std::size_t>(at)])];
  return at;
}

void TileUnits::join(ValueId a, ValueId b) {
  if (!k_.type(a).is_tile() || is_fill(k_, a) || is_fill(k_, b)) return;
  const int from = root(a), to = root(b);
  if (from == to) return;
  const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
  if (unit_[f] >= 0 && unit_[t] >= 0 && unit_[f] != unit_[t])
    fail(k_.at(b).def != InstId::None ? k_.at(b).def : k_.at(a).def,
         fmt::format("{} is used with operands of {} and of {}, which this target multiplies by different means; use "
                     "one dtype for the operands of all products that share a tile",
                     to_string(k_.type(a)), name_of(for_[f]), name_of(for_[t])));
  parent_[f] = to;
  if (unit_[t] < 0) {
    unit_[t] = unit_[f];
    for_[t] = for_[f];
  }
}

void TileUnits::require(ValueId v, DType operands, InstId by) {
  if (is_fill(k_, v)) return;
  const auto r = static_cast<std::size_t>(root(v));
  const int unit = static_cast<int>(unit_for(operands));
  if (unit_[r] >= 0 && unit_[r] != unit)
    fail(by, fmt::format("{} is used with operands of {} and of {}, which this target multiplies by different means; "
                         "use one dtype for the operands of all products that share a tile",
                         to_string(k_.type(v)), name_of(for_[r]), name_of(operands)));
  unit_[r] = unit;
  for_[r] = operands;
}

void TileUnits::collect(InstId id) {
  const Inst& i = k_.at(id);
  const auto slots = [&](const std::vector<ValueId>& a, std::size_t from_a, const std::vector<ValueId>& b,
                         std::size_t from_b) {
    for (std::size_t n = 0; n + from_a < a.size() && n + from_b < b.size(); ++n) join(a[n + from_a], b[n + from_b]);
  };
  switch (i.op) {
    case Op::TileMma:
      join(i.in[0], i.out[0]);
      return require(i.out[0], k_.type(i.in[1]).dtype, id);
    case Op::TileCast:
      return require(i.in[0], k_.type(i.out[0]).dtype, id);
    case Op::TileReduce:
      return join(i.in[0], i.out[0]);
    case Op::TileMap:
      for (const ValueId v : i.in) join(v, i.out[0]);
      return;
    case Op::If:
      for (const RegionId r : i.regions) slots(k_.at(r).yields, 0, i.out, 0);
      return;
    case Op::For: {
      const Region& body = k_.at(i.regions[0]);
      slots(i.in, 3, body.args, 1);
      slots(body.yields, 0, body.args, 1);
      return slots(body.args, 1, i.out, 0);
    }
    case Op::While: {
      const Region &test = k_.at(i.regions[0]), &body = k_.at(i.regions[1]);
      slots(i.in, 0, test.args, 0);
      slots(body.yields, 0, test.args, 0);
      slots(test.yields, 1, body.args, 0);
      return slots(body.args, 0, i.out, 0);
    }
    default:
      return;
  }
}

MatrixUnit TileUnits::unit_for(DType operands) const {
  return operands == DType::F32 ? options_.wide : options_.narrow;
}

TileBlocks TileUnits::of(ValueId v) const {
  const Type t = k_.type(v);
  const bool operand = t.role == TileRole::Lhs || t.role == TileRole::Rhs;
  const int known = operand ? static_cast<int>(unit_for(t.dtype)) : unit_[static_cast<std::size_t>(root(v))];
  const auto blocks = [&](MatrixUnit unit) {
    const UnitInfo& u = info(unit);
    const BlockLayout layout = t.role == TileRole::Rows ? rows_layout(u.acc) : u.of(t.role);
    return TileBlocks{layout, unit, t.dtype, t.rows / layout.rows, t.cols / layout.cols};
  };
  if (known >= 0) return blocks(static_cast<MatrixUnit>(known));
  // No product says: the first unit that the shape suits.
  for (const MatrixUnit unit : {options_.narrow, options_.wide}) {
    const TileBlocks b = blocks(unit);
    if (t.rows % b.layout.rows == 0 && t.cols % b.layout.cols == 0) return b;
  }
  return blocks(options_.narrow);
}

void TileUnits::check(ValueId v) const {
  const Type t = k_.type(v);
  const TileBlocks b = of(v);
  if (t.rows % b.layout.rows == 0 && t.cols % b.layout.cols == 0) return;
  fail(k_.at(v).def, fmt::format("{} is not made of the {} x {} blocks of {}; make its sides multiples of 16, which "
                                 "every target takes",
                                 to_string(t), b.layout.rows, b.layout.cols, info(b.unit).name));
}

void TileUnits::fail(InstId at, const std::string& what) const {
  const Loc loc = at == InstId::None ? k_.loc : k_.at(at).loc;
  const std::string place = to_string(loc.known() ? loc : k_.loc);
  throw Error(fmt::format("{}{}[{}] {}", place, place.empty() ? "" : ": ", k_.name, what));
}

}  // namespace mt
