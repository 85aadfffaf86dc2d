#include "mt/ir/verify_tiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "mt/ir/edit.h"
#include "mt/ir/matrix_unit.h"

namespace mt {
namespace {

class Check {
 public:
  Check(const Kernel& k, const Inst& i) : k_(k), i_(i), name_(info(i.op).name) {}

  std::string run() {
    switch (i_.op) {
      case Op::TileFill:
        if (in(0) != out().scalar() || (out().role != TileRole::Acc && out().role != TileRole::Rows))
          return fmt::format("tile_fill makes an acc or rows tile of an f32, not {} of {}", shown(out()), shown(in(0)));
        return "";
      case Op::TileLoad:
        if (!out().is_tile()) return "tile_load gives a tile";
        if (transposed_rows(out())) return "a rows tile is not transposed";
        return place(1) + held(out());
      case Op::TileStore:
        if (in(4).role != TileRole::Acc && in(4).role != TileRole::Rows)
          return fmt::format("tile_store writes an acc or rows tile, not {}", shown(in(4)));
        if (transposed_rows(in(4))) return "a rows tile is not transposed";
        return place(1) + writable();
      case Op::TileMma:
        return mma();
      case Op::TileCast:
        if (in(0).role != TileRole::Acc || out().role != TileRole::Lhs || in(0).rows != out().rows ||
            in(0).cols != out().cols)
          return fmt::format("tile_cast makes an lhs of an acc of its shape, not {} of {}", shown(out()), shown(in(0)));
        return "";
      case Op::TileReduce:
        if (i_.combine != Combine::Sum && i_.combine != Combine::Max && i_.combine != Combine::Min &&
            i_.combine != Combine::Prod)
          return "tile_reduce takes sum, prod, min or max";
        if (in(0).role != TileRole::Acc || out() != tile_type(TileRole::Rows, DType::F32, in(0).rows, 1))
          return fmt::format("tile_reduce makes rows of an acc, not {} of {}", shown(out()), shown(in(0)));
        return "";
      case Op::TileMap:
        return map();
      case Op::CopyAsync:
        return copy();
      case Op::CopyWait:
        return i_.index < 0 ? "copy_wait leaves 0 groups or more on their way" : "";
      case Op::LoadMatrix:
        if (out().lanes != 8 || out().is_tile() || size_of(out().dtype) != 2)
          return "load_matrix gives 8 elements of 16 bits";
        if (k_.at(i_.memory).space != Space::Threadgroup) return "load_matrix reads threadgroup memory";
        return is_index(0) + held(out());
      case Op::MmaBlock:
        return block();
      case Op::MmaTeam:
        return team();
      case Op::MmaWait:
        return wait();
      case Op::TileWait:
        return i_.index < 0 ? "tile_wait leaves 0 products or more on their way" : "";
      default:
        return others();
    }
  }

 private:
  Type in(std::size_t n) const { return k_.type(i_.in[n]); }
  Type out() const { return i_.out.empty() ? Type{} : k_.type(i_.out[0]); }
  static std::string shown(Type t) { return to_string(t); }
  bool transposed_rows(Type t) const { return i_.transposed && t.role == TileRole::Rows; }

  std::string is_index(std::size_t n) const {
    return !in(n).is_tile() && in(n).lanes == 1 && is_int(in(n).dtype)
               ? ""
               : fmt::format("{} takes integers for its place, not {}", name_, shown(in(n)));
  }
  /// Index, distance of rows, rows and columns.
  std::string place(std::size_t) const {
    for (std::size_t n = 0; n < 4; ++n)
      if (const std::string bad = is_index(n); !bad.empty()) return bad;
    if (in(0) != in(1)) return fmt::format("{}: the index and the distance of rows must be of one type", name_);
    for (const std::size_t n : {2u, 3u})
      if (in(n) != Type{DType::U32}) return fmt::format("{}: rows and columns that exist are u32", name_);
    return "";
  }
  std::string held(Type t) const {
    const Memory& m = k_.at(i_.memory);
    const bool widens = t.role == TileRole::Acc || t.role == TileRole::Rows;
    if (widens ? !is_float(m.dtype) : m.dtype != t.dtype)
      return fmt::format("{} of {} from '{}', which holds {}", name_, shown(t), m.name, name_of(m.dtype));
    return m.space == Space::Thread ? fmt::format("{} takes no thread array", name_) : "";
  }
  std::string writable() const {
    const Memory& m = k_.at(i_.memory);
    if (m.space == Space::Thread) return fmt::format("{} takes no thread array", name_);
    if (!is_float(m.dtype)) return fmt::format("{} to '{}', which holds {}", name_, m.name, name_of(m.dtype));
    return m.space == Space::Device && m.access == Access::In
               ? fmt::format("{} to '{}', which is an input; declare it out or inout", name_, m.name)
               : "";
  }
  std::string mma() const {
    const Type a = in(1), b = in(2);
    if (in(0).role != TileRole::Acc || a.role != TileRole::Lhs || b.role != TileRole::Rhs || out() != in(0))
      return fmt::format("tile_mma takes an acc, an lhs and an rhs, not {}, {} and {}", shown(in(0)), shown(a),
                         shown(b));
    if (a.dtype != b.dtype || a.cols != b.rows || a.rows != in(0).rows || b.cols != in(0).cols)
      return fmt::format("{} times {} does not add to {}", shown(a), shown(b), shown(in(0)));
    return "";
  }
  std::string map() const {
    if (i_.in.empty() || i_.out.size() != 1 || i_.regions.size() != 1)
      return "tile_map takes tiles, has one region and gives one tile";
    const Region& r = k_.at(i_.regions[0]);
    Type shape = in(0);
    for (const ValueId v : i_.in)
      if (k_.type(v).role == TileRole::Acc) shape = k_.type(v);
    for (const ValueId v : i_.in) {
      const Type t = k_.type(v);
      if (t.role != TileRole::Acc && t.role != TileRole::Rows)
        return fmt::format("tile_map takes acc and rows tiles, not {}", shown(t));
      if (t.rows != shape.rows || (t.role == TileRole::Acc && t.cols != shape.cols))
        return fmt::format("tile_map takes tiles of one shape, not {} and {}", shown(shape), shown(t));
    }
    if (out() != shape) return fmt::format("the result of tile_map must be {}, not {}", shown(shape), shown(out()));
    if (r.args.size() != i_.in.size() + 2 || r.yields.size() != 1 || k_.type(r.yields[0]) != Type{DType::F32})
      return "the region of tile_map takes the elements, the row and the column, and yields one f32";
    for (std::size_t n = 0; n < r.args.size(); ++n)
      if (k_.type(r.args[n]) != (n < i_.in.size() ? Type{DType::F32} : Type{DType::U32}))
        return "the elements that tile_map hands to its region are f32, row and column u32";
    for (const InstId inner : r.insts) {
      const Inst& x = k_.at(inner);
      const Effect e = info(x.op).effect;
      if ((e != Effect::Pure && x.op != Op::Load && x.op != Op::Get) || x.op == Op::LaneId || x.op == Op::ThreadId)
        return fmt::format(
            "tile_map computes elements by pure operations and loads, without {}; lanes are not "
            "elements",
            info(x.op).name);
    }
    return "";
  }
  std::string copy() const {
    for (std::size_t n = 0; n < 2; ++n)
      if (const std::string bad = is_index(n); !bad.empty()) return bad;
    if (in(2) != Type{DType::U32}) return "copy_async: how many elements exist is a u32";
    if (i_.from == MemoryId::None || index_of(i_.from) >= k_.memories.size()) return "copy_async names no source";
    const Memory &to = k_.at(i_.memory), &from = k_.at(i_.from);
    if (to.space != Space::Threadgroup || from.space != Space::Device)
      return "copy_async copies from device to threadgroup memory";
    if (to.dtype != from.dtype) return fmt::format("copy_async from {} to {}", name_of(from.dtype), name_of(to.dtype));
    const int bytes = i_.index * size_of(to.dtype);
    if (bytes != 4 && bytes != 8 && bytes != 16) return "copy_async moves 4, 8 or 16 bytes";
    return "";
  }
  std::string block() const {
    if (i_.index < 0 || i_.index >= kMatrixUnits) return "mma_block names no matrix unit";
    const UnitInfo& unit = info(static_cast<MatrixUnit>(i_.index));
    const Type want = {DType::F32, static_cast<std::uint8_t>(unit.acc.count())};
    if (in(0) != want || out() != want || in(1).dtype != in(2).dtype || in(1).lanes != unit.lhs.count() ||
        in(2).lanes != unit.rhs.count())
      return fmt::format("mma_block of {} takes {}, {} and {} elements", unit.name, unit.acc.count(), unit.lhs.count(),
                         unit.rhs.count());
    return "";
  }
  std::string team() const {
    const Memory& m = k_.at(i_.memory);
    if (m.space != Space::Threadgroup || m.layout == Layout::Plain) return "mma_team takes an rhs that lies in panels";
    if (k_.threads % (kTeam * kLanes) != 0) return "mma_team takes four simdgroups, or a multiple of that";
    const bool by = i_.from != MemoryId::None;
    const std::size_t sums = i_.out.size(), deep = static_cast<std::size_t>(std::max(i_.index, 1)), places = by ? 2 : 1;
    const std::size_t lhs = i_.in.size() - std::min(i_.in.size(), sums + places), rows = by ? 1 : lhs / deep;
    if (i_.index < 1 || sums == 0 || rows == 0 || lhs != (by ? 0 : rows * deep) || sums % rows != 0 ||
        i_.in.size() != places + lhs + sums)
      return "mma_team takes an index, lhs blocks of whole rows and as many acc blocks as it gives";
    const UnitInfo& unit = info(MatrixUnit::Mma16);
    const auto is = [&](ValueId v, DType t, int lanes) {
      return k_.type(v) == Type{t, static_cast<std::uint8_t>(lanes)};
    };
    for (std::size_t n = 0; n < lhs; ++n)
      if (!is(i_.in[1 + n], m.dtype, unit.lhs.count()))
        return "an lhs block of mma_team is not of mma16 and the rhs's dtype";
    for (std::size_t n = 0; n < sums; ++n)
      if (!is(i_.in[places + lhs + n], DType::F32, unit.acc.count()) || !is(i_.out[n], DType::F32, unit.acc.count()))
        return "an acc block of mma_team is not of mma16";
    const int cols = static_cast<int>(sums / rows) * unit.acc.cols, depth = i_.index * unit.lhs.cols;
    if (by) {
      if (index_of(i_.from) >= k_.memories.size()) return "mma_team names no lhs";
      const Memory& l = k_.at(i_.from);
      if (l.space != Space::Threadgroup || l.layout == Layout::Plain || l.dtype != m.dtype || depth > kPanelColumns)
        return "mma_team takes an lhs in panels of the rhs's dtype, from one row of a panel";
      if (const std::string bad = is_index(1); !bad.empty()) return bad;
    }
    if (cols > kMaxTeamColumns || (i_.transposed ? depth : cols) > kPanelColumns)
      return fmt::format("mma_team reads {} of a row of panels and makes {} columns; at most {} and {}",
                         i_.transposed ? depth : cols, cols, kPanelColumns, kMaxTeamColumns);
    return is_index(0);
  }
  std::string wait() const {
    if (i_.index < 0 || i_.in.size() < i_.out.size()) return "mma_wait gives no more blocks than it takes";
    const std::size_t first = i_.in.size() - i_.out.size();
    for (std::size_t n = 0; n < i_.out.size(); ++n)
      if (in(first + n) != k_.type(i_.out[n])) return "mma_wait gives the types that it takes";
    return "";
  }
  std::string others() const {
    if (info(i_.op).effect == Effect::Control || i_.op == Op::Var || i_.op == Op::Get || i_.op == Op::Set) return "";
    for (const auto* list : {&i_.in, &i_.out})
      for (const ValueId v : *list)
        if (k_.type(v).is_tile())
          return fmt::format("{} takes no tile ({}); use map() for its elements", name_, shown(k_.type(v)));
    return "";
  }

  const Kernel& k_;
  const Inst& i_;
  const std::string_view name_;
};

}  // namespace

std::string bad_tile(Type t) {
  if (t.role == TileRole::None) return "";
  const bool f32 = t.role == TileRole::Acc || t.role == TileRole::Rows;
  if (t.lanes != 1 || !is_float(t.dtype) || (f32 && t.dtype != DType::F32))
    return fmt::format("{} cannot be; acc and rows tiles are f32, operands f32, f16 or bf16", to_string(t));
  const bool shape = t.rows % 8 == 0 && t.rows > 0 &&
                     (t.role == TileRole::Rows ? t.cols == 1 : t.cols % 8 == 0 && t.cols > 0) && t.rows <= 1024 &&
                     t.cols <= 1024;
  return shape ? "" : fmt::format("{} cannot be; sides of tiles are multiples of 8, at most 1024", to_string(t));
}

std::string bad_tile_op(const Kernel& k, const Inst& i) { return Check(k, i).run(); }

std::string bad_tile_uniformity(const Kernel& k, const Inst& i, const std::vector<Uniformity>& uniformity) {
  const auto varies = [&](ValueId v) { return uniformity[index_of(v)] == Uniformity::Varying; };
  if (i.op == Op::TileLoad || i.op == Op::TileStore || i.op == Op::TileFill)
    for (const ValueId v : i.in)
      if (varies(v))
        return fmt::format("an operand of {} differs between the lanes that hold the tile; use what is equal on all",
                           info(i.op).name);
  if (i.op != Op::TileMap) return "";
  const Region& r = k.at(i.regions[0]);
  const auto outside = [&](ValueId v) { return k.home(v) != i.regions[0] && varies(v); };
  for (const InstId inner : r.insts)
    for (const ValueId v : k.at(inner).in)
      if (outside(v))
        return "map() uses a value that differs between lanes; elements of a tile know their row and column";
  return outside(r.yields[0]) ? "map() gives a value that differs between lanes" : "";
}

}  // namespace mt
