#include "mt/passes/lower_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "mt/base/error.h"
#include "mt/passes/divisibility.h"
#include "mt/passes/lower_copies.h"
#include "mt/passes/rewrite.h"
#include "mt/passes/tile_access.h"
#include "mt/passes/tile_teams.h"

namespace mt {
namespace {

using Values = std::vector<ValueId>;

std::size_t at(int n) { return static_cast<std::size_t>(n); }

class Lower : public Rewriter {
 public:
  Lower(Kernel& k, const TileLowering& options, std::vector<std::string>* notes)
      : Rewriter(k),
        options_(options),
        units_(k, options),
        access_(k, options),
        teams_(k, options),
        zeros_(zero_bits(k)),
        notes_(notes) {}

  /// Whether products of teams were made.
  bool made_teams() const { return made_teams_; }

 private:
  bool visit(InstId id) override {
    const Inst i = k_.at(id);
    Builder b = here();
    if (must_settle(i)) settle_all(b);
    switch (i.op) {
      case Op::TileFill:
        fills_[i.out[0]] = i.in[0];
        return false;
      case Op::TileLoad:
        if (teams_.in_place(id)) return false;
        define(i.out[0], access_.load(b, i, units_.of(i.out[0])));
        note(i, k_.type(i.out[0]), access_.note());
        return false;
      case Op::TileStore:
        access_.store(b, i, shape(i.in[4], i), blocks(b, i.in[4], units_.of(i.in[4])));
        note(i, k_.type(i.in[4]), access_.note());
        return false;
      case Op::TileMma:
        if (const auto panels = teams_.panels_of(id)) return team(b, i, *panels);
        return mma(b, i, teams_.why_not(id));
      case Op::TileWait:
        if (running_.count(region_) != 0) b.add({.op = Op::MmaWait, .index = i.index}, {});
        return false;
      case Op::TileCast:
        return cast(b, i);
      case Op::TileReduce:
        return reduce(b, i);
      case Op::TileMap:
        return map(b, i);
      case Op::CopyAsync: {
        const int zeros = std::min({zeros_[index_of(i.in[0])], zeros_[index_of(i.in[1])], std::uint8_t{4}});
        const std::string how = lower_copy(b, i, 1 << zeros, options_.copy_async);
        note(i, {k_.at(i.memory).dtype}, how);
        return false;
      }
      case Op::CopyCommit:
      case Op::CopyWait:
        return options_.copy_async;
      case Op::If:
        results(id);
        for (const RegionId r : i.regions) yields_of(r, i.out, 0);
        return true;
      case Op::For:
        for (std::size_t n = 0; n < i.out.size(); ++n)
          if (is_tile(i.out[n]) && teams_.runs_on(id, n)) {
            running_[i.regions[0]].push_back(k_.at(i.regions[0]).yields[n]);
            after_[id].push_back(i.out[n]);
          }
        yields_of(i.regions[0], i.out, 0);
        initial(b, id, 3, i.out);
        arguments(i.regions[0]);
        results(id);
        return true;
      case Op::While:
        return while_(b, id);
      default:
        return true;
    }
  }

  // ── tiles and their blocks ──
  bool is_tile(ValueId v) const { return k_.type(v).is_tile(); }
  void define(ValueId tile, Values list) { blocks_[tile] = std::move(list); }
  Values blocks(Builder& b, ValueId tile, const TileBlocks& t) {
    settle(b, tile);
    if (const auto fill = fills_.find(tile); fill != fills_.end())
      return Values(at(t.count()), b.splat(fill->second, t.layout.count()));
    return blocks_.at(tile);
  }
  /// Of a tile that is stored; a fill has had no check of its shape.
  TileBlocks shape(ValueId tile, const Inst& by) const {
    const TileBlocks t = units_.of(tile);
    const Type type = k_.type(tile);
    if (type.rows == t.rows * t.layout.rows && type.cols == t.cols * t.layout.cols) return t;
    throw Error(
        fmt::format("{}: [{}] {} is not made of the {} x {} blocks of {}; make its sides multiples of 16, "
                    "which every target takes",
                    to_string(by.loc), k_.name, to_string(type), t.layout.rows, t.layout.cols, info(t.unit).name));
  }
  void note(const Inst& i, Type t, const std::string& how) {
    if (!notes_) return;
    const std::string place = to_string(i.loc);
    notes_->push_back(
        fmt::format("{}{}{} {}: {}", place, place.empty() ? "" : ": ", info(i.op).name, to_string(t), how));
  }

  // ── control flow: a tile becomes its blocks in every list ──
  Values named(ValueId tile, Values list) {
    const std::string name = k_.at(tile).name;
    if (!name.empty())
      for (std::size_t n = 0; n < list.size(); ++n) k_.at(list[n]).name = fmt::format("{}_{}_", name, n);
    return list;
  }
  /// The list with each tile's blocks in its place; `owned` says whose values the new ones are.
  template <class F>
  std::optional<Values> in_blocks(const Values& old, F&& owned) {
    if (std::none_of(old.begin(), old.end(), [&](ValueId v) { return is_tile(v); })) return std::nullopt;
    changed_ = true;
    Values made;
    for (const ValueId v : old) {
      if (!is_tile(v)) {
        made.push_back(v);
        continue;
      }
      const TileBlocks t = units_.of(v);
      Values list;
      for (int n = 0; n < t.count(); ++n) {
        list.push_back(add_value(k_, t.type()));
        owned(k_.at(list.back()));
      }
      made.insert(made.end(), list.begin(), list.end());
      define(v, named(v, std::move(list)));
    }
    renumber(made);
    return made;
  }
  void results(InstId id) {
    if (auto made = in_blocks(Values(k_.at(id).out), [&](ValueInfo& v) { v.def = id; }))
      k_.at(id).out = std::move(*made);
  }
  void arguments(RegionId r) {
    if (auto made = in_blocks(Values(k_.at(r).args), [&](ValueInfo& v) { v.region = r; }))
      k_.at(r).args = std::move(*made);
  }
  void renumber(const Values& list) {
    for (std::size_t n = 0; n < list.size(); ++n) k_.at(list[n]).position = static_cast<std::int32_t>(n);
  }
  /// Operands from `first` on are the initial values of `slots`, which are the tiles that they become.
  void initial(Builder& b, InstId id, std::size_t first, const Values& slots) {
    const Values old = k_.at(id).in;
    Values made(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(first));
    for (std::size_t n = first; n < old.size(); ++n) expand(b, old[n], slots[n - first], made);
    k_.at(id).in = std::move(made);
  }
  void expand(Builder& b, ValueId v, ValueId slot, Values& to) {
    if (!is_tile(v)) {
      to.push_back(v);
      return;
    }
    const Values list = blocks(b, v, units_.of(slot));
    to.insert(to.end(), list.begin(), list.end());
  }
  /// Yields of `r` from `first` on become the slots.
  void yields_of(RegionId r, const Values& slots, std::size_t first) { yields_[r] = {slots, first}; }
  void enter_region(RegionId) override { outer_flights_.push_back(std::exchange(flights_, {})); }
  void leave_region(RegionId r) override {
    Builder b = here();
    if (const auto running = running_.find(r); running != running_.end())
      for (const ValueId tile : running->second)
        flights_.erase(std::remove(flights_.begin(), flights_.end(), tile), flights_.end());
    settle_all(b);
    flights_ = std::move(outer_flights_.back());
    outer_flights_.pop_back();
    const auto found = yields_.find(r);
    if (found == yields_.end()) return;
    const auto [slots, first] = found->second;
    const Values old = k_.at(r).yields;
    Values made(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(first));
    for (std::size_t n = first; n < old.size(); ++n) expand(b, old[n], slots[n - first], made);
    k_.at(r).yields = std::move(made);
  }
  bool while_(Builder& b, InstId id) {
    const Inst i = k_.at(id);
    const RegionId test = i.regions[0], body = i.regions[1];
    const Values carried = k_.at(test).args;
    yields_of(test, i.out, 1);
    yields_of(body, carried, 0);
    initial(b, id, 0, carried);
    arguments(test);
    arguments(body);
    results(id);
    return true;
  }

  // ── products that run beside the work ──
  void leave(InstId id) override {
    const Inst& loop = k_.at(id);
    if (loop.op != Op::For || running_.count(loop.regions[0]) == 0) return;
    for (const ValueId tile : after_[id]) flights_.push_back(tile);
  }
  /// Waits for the product that `tile` is the sum of; others begun later run on.
  void settle(Builder& b, ValueId tile) {
    const auto found = std::find(flights_.begin(), flights_.end(), tile);
    if (found != flights_.end()) settle_first(b, static_cast<std::size_t>(found - flights_.begin()) + 1);
  }
  void settle_all(Builder& b) { settle_first(b, flights_.size()); }
  void settle_first(Builder& b, std::size_t count) {
    if (count == 0) return;
    const Values done(flights_.begin(), flights_.begin() + static_cast<std::ptrdiff_t>(count));
    flights_.erase(flights_.begin(), flights_.begin() + static_cast<std::ptrdiff_t>(count));
    Inst wait{.op = Op::MmaWait, .index = static_cast<int>(flights_.size())};
    std::vector<Type> types;
    for (const ValueId tile : done) {
      const Values& held = held_[tile];
      wait.in.insert(wait.in.end(), held.begin(), held.end());
    }
    for (const ValueId tile : done)
      for (const ValueId v : blocks_.at(tile)) {
        wait.in.push_back(v);
        types.push_back(k_.type(v));
      }
    const Values out = k_.at(b.add(std::move(wait), types)).out;
    auto from = out.begin();
    for (const ValueId tile : done) {
      Values& list = blocks_.at(tile);
      std::copy_n(from, list.size(), list.begin());
      from += static_cast<std::ptrdiff_t>(list.size());
    }
  }
  /// Whether products must have ended before the instruction: what they read may change, or their sums be needed
  /// inside.
  bool must_settle(const Inst& i) const {
    if (flights_.empty()) return false;
    if (i.op == Op::Barrier || i.op == Op::SimdBarrier || i.op == Op::GroupReduce) return true;
    // In a loop with products_wait the author knows what they read.
    const auto writes_panels = [&](const Inst& x) {
      const MemoryId to = written_by(x);
      return running_.count(region_) == 0 && to != MemoryId::None && k_.at(to).layout != Layout::Plain;
    };
    if (writes_panels(i)) return true;
    if (i.regions.empty() || i.op == Op::TileMap) return false;
    bool busy = false;
    for (const RegionId r : i.regions)
      walk(k_, r, [&](InstId inner) {
        const Inst& x = k_.at(inner);
        busy = busy || (x.op >= Op::TileFill && x.op <= Op::TileWait) || info(x.op).effect == Effect::Syncs ||
               writes_panels(x);
      });
    const auto flies = [&](ValueId v) { return std::find(flights_.begin(), flights_.end(), v) != flights_.end(); };
    return busy || std::any_of(i.in.begin(), i.in.end(), flies);
  }
  bool team(Builder& b, const Inst& i, const TileTeams::Loads& loads) {
    const TileBlocks sum = units_.of(i.out[0]), x = units_.of(i.in[1]);
    const bool by = loads.lhs != InstId::None;
    const Values lhs = by ? Values{} : blocks(b, i.in[1], x);
    Values acc, held = lhs;
    // A sum that flies and goes nowhere else stays in flight.
    const auto flight = std::find(flights_.begin(), flights_.end(), i.in[0]);
    if (flight != flights_.end() && teams_.only_use(i.in[0])) {
      acc = blocks_.at(i.in[0]);
      held.insert(held.end(), held_[i.in[0]].begin(), held_[i.in[0]].end());
      flights_.erase(flight);
    } else {
      acc = blocks(b, i.in[0], sum);
    }
    const Inst& rhs = k_.at(loads.rhs);
    const bool down = rhs.transposed;
    Inst made{.op = Op::MmaTeam, .transposed = down, .index = x.cols, .memory = rhs.memory};
    made.in = {rhs.in[0]};
    if (by) {
      made.from = k_.at(loads.lhs).memory;
      made.in.push_back(k_.at(loads.lhs).in[0]);
    }
    made.in.insert(made.in.end(), lhs.begin(), lhs.end());
    made.in.insert(made.in.end(), acc.begin(), acc.end());
    const InstId id = b.add(std::move(made), std::vector<Type>(acc.size(), sum.type()));
    note(i, k_.type(i.out[0]),
         fmt::format("{} wgmma of 64 x {} x 16 by teams of four simdgroups, {} read in place{}", sum.rows * x.cols,
                     sum.cols * sum.layout.cols, by ? "both operands" : "the rhs",
                     down ? ", the rhs down the rows of its panels" : ""));
    define(i.out[0], Values(k_.at(id).out));
    flights_.push_back(i.out[0]);
    held_[i.out[0]] = std::move(held);
    made_teams_ = true;
    return false;
  }

  // ── arithmetic ──
  bool mma(Builder& b, const Inst& i, const std::string& why) {
    const TileBlocks sum = units_.of(i.out[0]), x = units_.of(i.in[1]), y = units_.of(i.in[2]);
    Values acc = blocks(b, i.in[0], sum);
    const Values lhs = blocks(b, i.in[1], x), rhs = blocks(b, i.in[2], y);
    for (int k = 0; k < x.cols; ++k)
      for (int r = 0; r < sum.rows; ++r)
        for (int c = 0; c < sum.cols; ++c) {
          ValueId& v = acc[at(r * sum.cols + c)];
          v = b.value({.op = Op::MmaBlock,
                       .index = static_cast<int>(sum.unit),
                       .in = {v, lhs[at(r * x.cols + k)], rhs[at(k * y.cols + c)]}},
                      sum.type());
        }
    note(i, k_.type(i.out[0]),
         fmt::format("{} blocks of {} x {} x {} by {}{}", sum.count() * x.cols, sum.layout.rows, sum.layout.cols,
                     x.layout.cols, info(sum.unit).name, why.empty() ? "" : " (no team's: " + why + ")"));
    define(i.out[0], std::move(acc));
    return false;
  }

  /// Element of the acc that lane 0 would have at (row, col); nothing where another lane has it.
  static std::optional<std::array<int, 2>> own(const TileBlocks& acc, int row, int col) {
    const int block = row / acc.layout.rows * acc.cols + col / acc.layout.cols;
    const std::array<int, 2> want = {row % acc.layout.rows, col % acc.layout.cols};
    const auto& list = acc.layout.elements;
    const auto found = std::find(list.begin(), list.end(), want);
    if (found == list.end()) return std::nullopt;
    return std::array{block, static_cast<int>(found - list.begin())};
  }
  bool cast(Builder& b, const Inst& i) {
    const TileBlocks to = units_.of(i.out[0]), from = acc_blocks(to.unit, k_.type(i.in[0]));
    const Values acc = blocks(b, i.in[0], from);
    const bool same = to.layout.row == from.layout.row && to.layout.col == from.layout.col;
    Values out;
    for (int n = 0; n < to.count(); ++n) {
      Values list;
      for (int e = 0; e < to.layout.count(); ++e) {
        const auto [r, c] = to.at(n, e);
        if (const auto mine = same ? own(from, r, c) : std::nullopt)
          list.push_back(element_of(b, acc[at((*mine)[0])], (*mine)[1]));
        else
          list.push_back(fetched(b, from, acc, r, c));
      }
      out.push_back(b.cast(block_of(b, list), to.dtype));
    }
    note(i, k_.type(i.out[0]), same ? "the same lanes keep their elements" : "elements move by shuffles");
    define(i.out[0], std::move(out));
    return false;
  }
  static TileBlocks acc_blocks(MatrixUnit unit, Type t) {
    const BlockLayout& layout = info(unit).acc;
    return {layout, unit, DType::F32, t.rows / layout.rows, t.cols / layout.cols};
  }
  /// The element at (the lane's row + row, col) from the lane of that row that has it.
  ValueId fetched(Builder& b, const TileBlocks& acc, const Values& list, int row, int col) {
    const BlockLayout& l = acc.layout;
    int keep = 0;
    for (std::size_t bit = 0; bit < l.row.size(); ++bit)
      if (l.row[bit] != 0) keep |= 1 << bit;
    for (int lane = 0; lane < kLanes; ++lane)
      for (int e = 0; e < l.count() && (lane & keep) == 0; ++e) {
        const auto [r, c] = l.at(lane, e);
        if (r != row % l.rows || c != col % l.cols) continue;
        const ValueId v = element_of(b, list[at(row / l.rows * acc.cols + col / l.cols)], e);
        const ValueId me = b.value({.op = Op::LaneId}, {DType::U32});
        const ValueId row_of_lanes = b.binary(Op::And, me, b.constant_int(DType::U32, keep));
        const ValueId holder = b.binary(Op::Or, row_of_lanes, b.constant_int(DType::U32, lane));
        return b.value({.op = Op::SimdShuffle, .in = {v, holder}}, k_.type(v));
      }
    MT_ICE("no lane of the row holds that element");
  }

  bool reduce(Builder& b, const Inst& i) {
    const TileBlocks rows = units_.of(i.out[0]);
    const TileBlocks acc = acc_blocks(rows.unit, k_.type(i.in[0]));
    const BlockLayout& layout = acc.layout;
    const Values list = blocks(b, i.in[0], acc);
    Values out;
    for (int r = 0; r < rows.rows; ++r) {
      Values each;
      for (const auto& row : rows.layout.elements) {
        Values parts;
        for (int c = 0; c < acc.cols; ++c)
          for (int e = 0; e < layout.count(); ++e)
            if (layout.elements[at(e)][0] == row[0]) parts.push_back(element_of(b, list[at(r * acc.cols + c)], e));
        each.push_back(across(b, i.combine, combined(b, i.combine, std::move(parts)), layout));
      }
      out.push_back(block_of(b, each));
    }
    define(i.out[0], std::move(out));
    return false;
  }
  static ValueId combined(Builder& b, Combine c, Values parts) {
    while (parts.size() > 1) {
      Values next;
      for (std::size_t n = 0; n + 1 < parts.size(); n += 2) next.push_back(b.binary(op_of(c), parts[n], parts[n + 1]));
      if (parts.size() % 2 == 1) next.push_back(parts.back());
      parts = std::move(next);
    }
    return parts[0];
  }
  ValueId across(Builder& b, Combine c, ValueId v, const BlockLayout& layout) {
    for (const int bit : bits_within_row(layout)) {
      const ValueId other = b.value({.op = Op::SimdShuffleXor, .index = 1 << bit, .in = {v}}, k_.type(v));
      v = b.binary(op_of(c), v, other);
    }
    return v;
  }

  bool map(Builder& b, const Inst& i) {
    const TileBlocks t = units_.of(i.out[0]);
    const bool is_rows = k_.type(i.out[0]).role == TileRole::Rows;
    const TileBlocks rows = is_rows ? t : rows_of(t);
    std::vector<Values> in;
    for (const ValueId v : i.in) in.push_back(blocks(b, v, k_.type(v).role == TileRole::Rows ? rows : t));
    const ValueId row = lane_offset(b, t.layout.row), col = lane_offset(b, t.layout.col);
    const auto plus = [&](ValueId v, int n) { return b.binary(Op::Add, v, b.constant_int(DType::U32, n)); };
    const Values args = k_.at(i.regions[0]).args;
    const std::vector<InstId> body = k_.at(i.regions[0]).insts;
    const ValueId yield = k_.at(i.regions[0]).yields[0];
    Values out;
    for (int n = 0; n < t.count(); ++n) {
      Values list;
      for (int e = 0; e < t.layout.count(); ++e) {
        const auto [r, c] = t.at(n, e);
        std::unordered_map<ValueId, ValueId> values;
        for (std::size_t k = 0; k < i.in.size(); ++k) {
          const bool of_row = !is_rows && k_.type(i.in[k]).role == TileRole::Rows;
          values[args[k]] =
              of_row ? element_of(b, in[k][at(n / t.cols)], row_element(rows, t, e)) : element_of(b, in[k][at(n)], e);
        }
        values[args[i.in.size()]] = plus(row, r);
        values[args[i.in.size() + 1]] = plus(col, c);
        for (const InstId inner : body) append(k_, region_, clone(k_, inner, values));
        const auto made = values.find(yield);
        list.push_back(made == values.end() ? yield : made->second);
      }
      out.push_back(block_of(b, list));
    }
    define(i.out[0], std::move(out));
    return false;
  }
  TileBlocks rows_of(const TileBlocks& acc) const {
    return {rows_layout(acc.layout), acc.unit, DType::F32, acc.rows, 1};
  }
  /// The lane's row, among those of a rows block, where its element `e` of an acc block is.
  static int row_element(const TileBlocks& rows, const TileBlocks& acc, int e) {
    const auto& list = rows.layout.elements;
    const int row = acc.layout.elements[at(e)][0];
    return static_cast<int>(std::find_if(list.begin(), list.end(), [&](const auto& p) { return p[0] == row; }) -
                            list.begin());
  }

  struct Yields {
    Values slots;
    std::size_t first;
  };
  const TileLowering options_;
  const TileUnits units_;
  TileAccess access_;
  const TileTeams teams_;
  const std::vector<std::uint8_t> zeros_;
  std::vector<std::string>* notes_;
  std::unordered_map<ValueId, Values> blocks_;
  std::unordered_map<ValueId, ValueId> fills_;
  std::map<RegionId, Yields> yields_;
  Values flights_;                            // sums of the region's products that may run, in the order of their begin
  std::unordered_map<ValueId, Values> held_;  // by sum: lhs blocks that its products read
  std::vector<Values> outer_flights_;         // of the regions around
  std::map<RegionId, Values> running_;  // by body of a loop: sums that it yields and that run on into the next trip
  std::map<InstId, Values> after_;      // by loop: the results that they become
  bool made_teams_ = false;
};

/// Besides copies, which products see behind a barrier as they are.
bool stores_to_panels(const Kernel& k) {
  bool found = false;
  walk(k, RegionId::Root, [&](InstId id) {
    const Inst& i = k.at(id);
    found = found || ((i.op == Op::Store || i.op == Op::Atomic) && k.at(i.memory).layout != Layout::Plain);
  });
  return found;
}

/// What the threads write to panels is seen by products behind the next barrier.
void add_fences(Kernel& k, RegionId r) {
  std::vector<InstId> list;
  for (const InstId id : k.at(r).insts) {
    for (const RegionId inner : k.at(id).regions) add_fences(k, inner);
    if (k.at(id).op == Op::Barrier) {
      const InstId fence = add_inst(k, {.op = Op::MmaFence}, {});
      k.at(fence).home = r;
      list.push_back(fence);
    }
    list.push_back(id);
  }
  k.at(r).insts = std::move(list);
}

bool has_tiles(const Kernel& k) {
  bool found = false;
  walk(k, RegionId::Root, [&](InstId i) {
    const Op op = k.at(i).op;
    found = found || (op >= Op::TileFill && op <= Op::CopyWait);
  });
  return found;
}

}  // namespace

bool lower_tiles(Kernel& kernel, const PipelineOptions& options) {
  if (!options.tiles.lower || !has_tiles(kernel)) return false;
  Lower lower(kernel, options.tiles, nullptr);
  const bool changed = lower.run();
  if (lower.made_teams() && stores_to_panels(kernel)) add_fences(kernel, RegionId::Root);
  return changed;
}

std::vector<std::string> tile_notes(Kernel kernel, const PipelineOptions& options) {
  std::vector<std::string> notes;
  if (options.tiles.lower && has_tiles(kernel)) Lower(kernel, options.tiles, &notes).run();
  return notes;
}

}  // namespace mt
