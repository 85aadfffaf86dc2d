#include "mt/passes/tile_teams.h"

#include <algorithm>

#include "mt/ir/edit.h"
#include "mt/passes/bounds.h"
#include "mt/passes/divisibility.h"

namespace mt {
namespace {

constexpr int kGroupZeros = 9;  // of an index that is a multiple of kPanelGroup
static_assert(kPanelGroup == 1 << kGroupZeros);

const char* const kNone = "-";

std::optional<std::uint64_t> number(const Kernel& k, ValueId v) {
  const Inst* def = k.def(v);
  return def && def->op == Op::Const ? std::optional(def->bits) : std::nullopt;
}

}  // namespace

TileTeams::TileTeams(const Kernel& k, const TileLowering& options)
    : k_(k),
      options_(options),
      uniformity_(options.teams ? uniformity(k) : std::vector<Uniformity>{}),
      zeros_(options.teams ? zero_bits(k) : std::vector<std::uint8_t>{}),
      uses_(k.values.size()),
      user_(k.values.size(), InstId::None),
      together_(k.regions.size()),
      verdict_(k.insts.size(), kNone),
      in_place_(k.insts.size()),
      by_panels_(k.insts.size()) {
  if (!options.teams) return;
  walk_region(RegionId::Root, Uniformity::Group);
  walk(k, RegionId::Root, [&](InstId id) {
    if (k.at(id).op != Op::TileMma) return;
    verdict_[index_of(id)] = judge(id);
    by_panels_[index_of(id)] = verdict_[index_of(id)].empty() && lhs_in_place(id);
  });
  walk(k, RegionId::Root, [&](InstId id) {
    if (k.at(id).op == Op::TileLoad) in_place_[index_of(id)] = only_products(id);
  });
}

void TileTeams::walk_region(RegionId r, Uniformity control) {
  together_[index_of(r)] = control == Uniformity::Group;
  for (const InstId id : k_.at(r).insts) {
    const Inst& i = k_.at(id);
    for (const ValueId v : i.in) {
      ++uses_[index_of(v)];
      user_[index_of(v)] = id;
    }
    Uniformity inner = control;
    const auto under = [&](ValueId v) { inner = std::max(inner, uniformity_[index_of(v)]); };
    if (i.op == Op::If) under(i.in[0]);
    if (i.op == Op::For)
      for (const std::size_t n : {0u, 1u, 2u}) under(i.in[n]);
    if (i.op == Op::While) under(k_.at(i.regions[0]).yields[0]);
    for (const RegionId s : i.regions) walk_region(s, inner);
  }
  for (const ValueId v : k_.at(r).yields) {
    ++uses_[index_of(v)];
    user_[index_of(v)] = k_.at(r).owner;
  }
}

std::optional<InstId> TileTeams::only_use(ValueId v) const {
  return uses_[index_of(v)] == 1 ? std::optional(user_[index_of(v)]) : std::nullopt;
}

/// Empty where the product is a team's, kNone where nothing asks for one.
std::string TileTeams::judge(InstId mma) const {
  const Inst& i = k_.at(mma);
  const Type rhs = k_.type(i.in[2]), lhs = k_.type(i.in[1]);
  const Inst* load = k_.def(i.in[2]);
  if (!load || load->op != Op::TileLoad || k_.at(load->memory).layout == Layout::Plain) return kNone;
  if (size_of(rhs.dtype) != 2 || options_.narrow != MatrixUnit::Mma16) return kNone;
  if (k_.threads % (kTeam * kLanes) != 0) return "the threadgroup is no multiple of four simdgroups";
  if (!together_[index_of(i.home)]) return "not all simdgroups get there together";
  if (by_simd(load->in[0]) != 0) return "simdgroups read different parts of the operand";
  if (lhs.rows % 16 != 0 || lhs.cols % 16 != 0 || rhs.cols % 8 != 0) return "its sides are no multiples of 16";
  if (rhs.cols > kMaxTeamColumns) return "it has more than 256 columns";
  return readable(mma, i.in[2]);
}

/// Why the operand, whose load from panels is known, cannot be read in place; empty where it can.
std::string TileTeams::readable(InstId mma, ValueId operand) const {
  const Inst& load = *k_.def(operand);
  const Type t = k_.type(operand);
  if (at_least(k_, load.in[2]) < static_cast<std::uint64_t>(t.rows) ||
      at_least(k_, load.in[3]) < static_cast<std::uint64_t>(t.cols))
    return "not all of the operand is known to exist";
  if (number(k_, load.in[1]) != static_cast<std::uint64_t>(kPanelColumns))
    return "the distance of rows is not the 64 elements of a panel";
  if (!unchanged_between(k_.at(operand).def, mma)) return "the operand may change meanwhile";
  return place(load);
}

/// An lhs of 16 rows, the rows of the next simdgroup behind them.
bool TileTeams::lhs_in_place(InstId mma) const {
  const Inst& i = k_.at(mma);
  const Inst* load = k_.def(i.in[1]);
  if (!load || load->op != Op::TileLoad || load->transposed || k_.type(i.in[1]).rows != 16) return false;
  if (k_.at(load->memory).layout == Layout::Plain) return false;
  return by_simd(load->in[0]) == 16 * kPanelColumns && readable(mma, i.in[1]).empty();
}

/// How much an index grows from a simdgroup to the next; nothing where that is not one number.
std::optional<std::int64_t> TileTeams::by_simd(ValueId v) const {
  if (uniformity_[index_of(v)] == Uniformity::Group) return 0;
  const Inst* def = k_.def(v);
  if (!def) return std::nullopt;
  const auto times = [&](std::optional<std::int64_t> x, std::optional<std::uint64_t> n) -> std::optional<std::int64_t> {
    if (!x || !n || *n > (1u << 20)) return std::nullopt;
    return *x * static_cast<std::int64_t>(*n);
  };
  switch (def->op) {
    case Op::SimdId:
      return 1;
    case Op::Cast:
      return is_int(k_.type(def->in[0]).dtype) ? by_simd(def->in[0]) : std::nullopt;
    case Op::Add: {
      const auto a = by_simd(def->in[0]), b = by_simd(def->in[1]);
      return a && b ? std::optional(*a + *b) : std::nullopt;
    }
    case Op::Mul:
      return times(by_simd(def->in[0]), number(k_, def->in[1]));
    case Op::Shl: {
      const auto by = number(k_, def->in[1]);
      return by && *by <= 20 ? times(by_simd(def->in[0]), std::uint64_t{1} << *by) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

/// Where in its panel the operand begins: at the first column, or for one that runs down the rows at a multiple of 16.
std::string TileTeams::place(const Inst& load) const {
  const Type t = k_.type(load.out[0]);
  ValueId from = load.in[0];
  std::uint64_t fixed = 0;
  if (const auto all = number(k_, from)) {
    fixed = *all;
  } else {
    const Inst* sum = k_.def(from);
    const auto part = sum && sum->op == Op::Add ? number(k_, sum->in[1]) : std::nullopt;
    if (part) {
      fixed = *part;
      from = sum->in[0];
    }
    if (zeros_[index_of(from)] < kGroupZeros) return "the operand is not known to begin with a group of 8 rows";
  }
  const auto col = static_cast<int>(fixed % kPanelColumns);
  if (fixed % kPanelGroup >= kPanelColumns) return "the operand does not begin with a group of 8 rows";
  const int along = load.transposed ? t.rows : t.cols;
  if (load.transposed ? col % 16 != 0 : col != 0) return "the operand begins within a run of a panel's columns";
  if (col + along > kPanelColumns) return "the operand reaches over the end of a panel";
  return "";
}

bool TileTeams::unchanged_between(InstId load, InstId mma) const {
  if (k_.at(load).home != k_.at(mma).home) return false;
  const auto& list = k_.at(k_.at(mma).home).insts;
  const MemoryId memory = k_.at(load).memory;
  for (auto at = std::find(list.begin(), list.end(), load); at != list.end() && *at != mma; ++at) {
    const Inst& i = k_.at(*at);
    if (info(i.op).effect == Effect::Syncs || written_by(i) == memory) return false;
    if (!i.regions.empty() && i.op != Op::TileMap) return false;
  }
  return true;
}

std::optional<TileTeams::Loads> TileTeams::panels_of(InstId mma) const {
  if (!verdict_[index_of(mma)].empty()) return std::nullopt;
  const Inst& i = k_.at(mma);
  return Loads{k_.at(i.in[2]).def, by_panels_[index_of(mma)] ? k_.at(i.in[1]).def : InstId::None};
}

std::string TileTeams::why_not(InstId mma) const {
  const std::string& v = verdict_[index_of(mma)];
  return v == kNone ? "" : v;
}

bool TileTeams::only_products(InstId load) const {
  const ValueId v = k_.at(load).out[0];
  int products = 0;
  for (const InstId id : k_.at(k_.at(load).home).insts)
    if (const Inst& i = k_.at(id); i.op == Op::TileMma && verdict_[index_of(id)].empty())
      products += i.in[2] == v || (i.in[1] == v && by_panels_[index_of(id)]) ? 1 : 0;
  return products > 0 && products == uses_[index_of(v)];
}

bool TileTeams::runs_on(InstId loop, std::size_t n) const {
  if (!options_.teams || k_.at(loop).op != Op::For) return false;
  const Region& body = k_.at(k_.at(loop).regions[0]);
  const auto waits = [&](InstId i) { return k_.at(i).op == Op::TileWait; };
  if (std::none_of(body.insts.begin(), body.insts.end(), waits)) return false;
  for (ValueId v = body.args[n + 1];;) {
    const auto use = only_use(v);
    if (!use) return false;
    if (*use == loop) return v != body.args[n + 1] && v == body.yields[n];
    const Inst& i = k_.at(*use);
    // Registers of an lhs would have to stay as they are into the next trip.
    if (i.op != Op::TileMma || i.in[0] != v || i.home != k_.at(loop).regions[0] || !by_panels_[index_of(*use)])
      return false;
    v = i.out[0];
  }
}

}  // namespace mt
