#include "mt/passes/tile_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "mt/passes/bounds.h"
#include "mt/passes/divisibility.h"

namespace mt {

ValueId element_of(Builder& b, ValueId block, int e) {
  return b.kernel.type(block).lanes == 1 ? block : b.extract(block, e);
}
ValueId block_of(Builder& b, const std::vector<ValueId>& elements) {
  if (elements.size() == 1) return elements[0];
  const Type t{b.kernel.type(elements[0]).dtype, static_cast<std::uint8_t>(elements.size())};
  return b.value({.op = Op::Pack, .in = elements}, t);
}

std::vector<ValueId> branch(Builder& b, ValueId condition, const std::vector<Type>& types,
                            const std::function<std::vector<ValueId>(Builder&)>& then,
                            const std::function<std::vector<ValueId>(Builder&)>& other) {
  Kernel& k = b.kernel;
  const InstId id = b.add({.op = Op::If, .in = {condition}}, types);
  for (const auto* emit : {&then, &other}) {
    const RegionId r = add_region(k, id);
    if (!*emit) continue;
    Builder inner(k, r);
    inner.loc = b.loc;
    const std::vector<ValueId> yields = (*emit)(inner);
    k.at(r).yields = yields;
  }
  return k.at(id).out;
}

struct TileAccess::Access {
  const Inst inst;
  const TileBlocks t;
  DType held;
  bool rows_exist, cols_exist;           // all of the tile's, surely
  ValueId row, col;                      // what the lane adds to the tile's coordinates
  ValueId base;                          // index of the lane's part
  std::vector<std::vector<Element>> by;  // row of the tile
};

TileAccess::TileAccess(Kernel& k, const TileLowering& options) : k_(k), options_(options), zeros_(zero_bits(k)) {}

int TileAccess::zeros(ValueId v) const { return index_of(v) < zeros_.size() ? zeros_[index_of(v)] : 0; }

TileAccess::Access TileAccess::access(Builder& b, const Inst& inst, const TileBlocks& t, Type tile) const {
  const bool column = tile.role == TileRole::Rows;
  Access a{inst,
           t,
           k_.at(inst.memory).dtype,
           at_least(k_, inst.in[2]) >= static_cast<std::uint64_t>(tile.rows),
           column || at_least(k_, inst.in[3]) >= static_cast<std::uint64_t>(tile.cols),
           lane_offset(b, t.layout.row),
           lane_offset(b, t.layout.col),
           inst.in[0],
           {}};
  const DType index = k_.type(inst.in[0]).dtype;
  const ValueId down = inst.transposed ? a.col : a.row, right = inst.transposed ? a.row : a.col;
  const ValueId rows_down = b.binary(Op::Mul, b.cast(down, index), inst.in[1]);
  a.base = b.binary(Op::Add, b.binary(Op::Add, inst.in[0], b.cast(right, index)), rows_down);
  std::map<int, std::vector<Element>> by;
  for (int n = 0; n < t.count(); ++n)
    for (int e = 0; e < t.layout.count(); ++e) {
      const auto [r, c] = t.at(n, e);
      by[r].push_back({n, e, r, c, inst.transposed ? c : r, inst.transposed ? r : c});
    }
  for (auto& [row, list] : by) {
    std::sort(list.begin(), list.end(),
              [](const Element& x, const Element& y) { return std::tie(x.down, x.right) < std::tie(y.down, y.right); });
    a.by.push_back(std::move(list));
  }
  return a;
}

/// The constant stands last, where later passes look for neighbours.
ValueId TileAccess::index(Builder& b, const Access& a, int down, int right) const {
  const DType t = k_.type(a.base).dtype;
  ValueId v = a.base;
  if (down != 0) v = b.binary(Op::Add, v, b.binary(Op::Mul, a.inst.in[1], b.constant_int(t, down)));
  return right == 0 ? v : b.binary(Op::Add, v, b.constant_int(t, right));
}

TileAccess::Values TileAccess::load_some(Builder& b, const Access& a, const std::vector<Element>& some,
                                         bool cols_exist) const {
  Values out;
  const auto one = [&](Builder& in, const Element& e) {
    return in.cast(in.load(a.inst.memory, index(in, a, e.down, e.right)), a.t.dtype);
  };
  for (const Element& e : some) {
    if (cols_exist) {
      out.push_back(one(b, e));
      continue;
    }
    const ValueId at = b.binary(Op::Add, a.col, b.constant_int(DType::U32, e.col));
    const ValueId exists = b.binary(Op::Lt, at, a.inst.in[3]);
    out.push_back(branch(
        b, exists, {{a.t.dtype}}, [&](Builder& in) { return Values{one(in, e)}; },
        [&](Builder& in) { return Values{in.constant({a.t.dtype}, 0)}; })[0]);
  }
  return out;
}

TileAccess::Values TileAccess::elements(Builder& b, const Access& a, bool rows_exist, bool cols_exist) const {
  const auto count = static_cast<std::size_t>(a.t.layout.count());
  std::vector<Values> blocks(static_cast<std::size_t>(a.t.count()), Values(count));
  const auto put = [&](const std::vector<Element>& some, const Values& values) {
    for (std::size_t n = 0; n < some.size(); ++n)
      blocks[static_cast<std::size_t>(some[n].block)][static_cast<std::size_t>(some[n].e)] = values[n];
  };
  std::vector<Element> all;
  for (const auto& row : a.by) {
    if (rows_exist) {
      all.insert(all.end(), row.begin(), row.end());
      continue;
    }
    const ValueId at = b.binary(Op::Add, a.row, b.constant_int(DType::U32, row[0].row));
    const Values values = branch(
        b, b.binary(Op::Lt, at, a.inst.in[2]), std::vector<Type>(row.size(), {a.t.dtype}),
        [&](Builder& in) { return load_some(in, a, row, cols_exist); },
        [&](Builder& in) { return Values(row.size(), in.constant({a.t.dtype}, 0)); });
    put(row, values);
  }
  // Neighbours in memory stand together, whichever way the tile's rows run.
  std::stable_sort(all.begin(), all.end(), [](const Element& x, const Element& y) {
    return std::tie(x.down, x.right) < std::tie(y.down, y.right);
  });
  put(all, load_some(b, a, all, cols_exist));
  Values out;
  for (const Values& block : blocks) out.push_back(block_of(b, block));
  return out;
}

namespace {

/// The rows and columns that are not known to exist do.
ValueId whole(Builder& b, const Inst& inst, Type tile, bool rows_exist, bool cols_exist) {
  const auto enough = [&](std::size_t operand, int n) {
    return b.binary(Op::Ge, inst.in[operand], b.constant_int(DType::U32, n));
  };
  if (rows_exist) return enough(3, tile.cols);
  if (cols_exist) return enough(2, tile.rows);
  return b.binary(Op::And, enough(2, tile.rows), enough(3, tile.cols));
}

/// Bits of lanes that hold the same elements.
int twins_of(const BlockLayout& l) {
  int twins = 0;
  for (std::size_t bit = 0; bit < l.row.size(); ++bit)
    if (l.row[bit] == 0 && l.col[bit] == 0) twins |= 1 << bit;
  return twins;
}
/// Whether the lane is the first of those that hold the same elements.
ValueId is_first(Builder& b, int twins) {
  const ValueId lane = b.value({.op = Op::LaneId}, {DType::U32});
  const ValueId among = b.binary(Op::And, lane, b.constant_int(DType::U32, twins));
  return b.binary(Op::Eq, among, b.constant_int(DType::U32, 0));
}

std::string checked(bool known) { return known ? "" : ", element by element where it is not whole"; }

}  // namespace

std::vector<ValueId> TileAccess::load(Builder& b, const Inst& inst, const TileBlocks& t) {
  const Type tile = k_.type(inst.out[0]);
  const Access a = access(b, inst, t, tile);
  const bool known = a.rows_exist && a.cols_exist;
  const std::string why = why_no_matrix_load(inst, t, tile);
  note_ = (why.empty() ? "load_matrix" : "loads of each lane's elements (" + why + ")") + checked(known);
  const auto fast = [&](Builder& in) {
    return why.empty() ? matrix_load(in, inst, t, tile) : elements(in, a, true, true);
  };
  const std::vector<Type> types(static_cast<std::size_t>(t.count()), t.type());
  const auto read = [&](Builder& to) {
    if (known) return fast(to);
    return branch(to, whole(to, inst, tile, a.rows_exist, a.cols_exist), types, fast,
                  [&](Builder& in) { return elements(in, a, a.rows_exist, a.cols_exist); });
  };
  const Memory& m = k_.at(inst.memory);
  const int twins = twins_of(t.layout);
  if (twins == 0 || m.space != Space::Device || m.access == mt::Access::In) return read(b);
  // The lane that stores an element reads it, too: nothing orders the lanes' accesses to device memory.
  const Values held = branch(b, is_first(b, twins), types, read,
                             [&](Builder& in) { return Values(types.size(), in.constant(types[0], 0)); });
  const ValueId lane = b.value({.op = Op::LaneId}, {DType::U32});
  const ValueId reader = b.binary(Op::And, lane, b.constant_int(DType::U32, ~twins & (kLanes - 1)));
  Values out;
  for (const ValueId block : held) {
    Values list;
    for (int e = 0; e < t.layout.count(); ++e) {
      const ValueId v = element_of(b, block, e);
      list.push_back(b.value({.op = Op::SimdShuffle, .in = {v, reader}}, k_.type(v)));
    }
    out.push_back(block_of(b, list));
  }
  return out;
}

void TileAccess::store_all(Builder& b, const Access& a, bool rows_exist, bool cols_exist, const Values& blocks) const {
  const auto one = [&](Builder& in, const Element& e) {
    const ValueId v = element_of(in, blocks[static_cast<std::size_t>(e.block)], e.e);
    const ValueId rounded = in.cast(v, a.held);
    in.store(a.inst.memory, index(in, a, e.down, e.right), rounded);
  };
  const auto some = [&](Builder& in, const std::vector<Element>& list) {
    for (const Element& e : list) {
      if (cols_exist) {
        one(in, e);
        continue;
      }
      const ValueId at = in.binary(Op::Add, a.col, in.constant_int(DType::U32, e.col));
      branch(in, in.binary(Op::Lt, at, a.inst.in[3]), {}, [&](Builder& inner) {
        one(inner, e);
        return Values{};
      });
    }
    return Values{};
  };
  std::vector<Element> all;
  for (const auto& row : a.by) {
    if (rows_exist) {
      all.insert(all.end(), row.begin(), row.end());
      continue;
    }
    const ValueId at = b.binary(Op::Add, a.row, b.constant_int(DType::U32, row[0].row));
    branch(b, b.binary(Op::Lt, at, a.inst.in[2]), {}, [&](Builder& in) { return some(in, row); });
  }
  std::stable_sort(all.begin(), all.end(), [](const Element& x, const Element& y) {
    return std::tie(x.down, x.right) < std::tie(y.down, y.right);
  });
  some(b, all);
}

/// Whether the four lanes that hold a row of an acc block store 16 bytes each of four neighbouring blocks, instead of 4
/// bytes of each.
bool TileAccess::in_quads(const Access& a) const {
  const Memory& m = k_.at(a.inst.memory);
  return a.t.unit == MatrixUnit::Mma16 && a.t.layout.count() == 4 && a.t.cols % 4 == 0 && !a.inst.transposed &&
         m.space == Space::Device && (m.dtype == DType::F16 || m.dtype == DType::BF16) && zeros(a.inst.in[0]) >= 3 &&
         zeros(a.inst.in[1]) >= 3;
}

/// Words of two elements change places: lane q of four begins with word q of each of four blocks, and ends with the
/// four words of block q.
void TileAccess::store_quads(Builder& b, const Access& a, const Values& blocks) const {
  const DType held = k_.at(a.inst.memory).dtype, index = k_.type(a.inst.in[0]).dtype;
  const auto number = [&](int n) { return b.constant_int(DType::U32, n); };
  const ValueId lane = b.value({.op = Op::LaneId}, {DType::U32});
  const auto bit = [&](int mask) { return b.binary(Op::Ne, b.binary(Op::And, lane, number(mask)), number(0)); };
  const std::array<ValueId, 2> upper = {bit(1), bit(2)};
  const auto bits_of_element = [&](ValueId block, int e) {
    const ValueId rounded = b.cast(element_of(b, block, e), held);
    return b.cast(b.value({.op = Op::Bitcast, .in = {rounded}}, {DType::U16}), DType::U32);
  };
  const auto word = [&](ValueId block, int e) {
    const ValueId high = b.binary(Op::Shl, bits_of_element(block, e + 1), number(16));
    return b.binary(Op::Or, bits_of_element(block, e), high);
  };
  const auto half = [&](ValueId w, bool high) {
    const ValueId part = b.cast(high ? b.binary(Op::Shr, w, number(16)) : w, DType::U16);
    return b.value({.op = Op::Bitcast, .in = {part}}, {held});
  };
  const ValueId down = b.cast(lane_offset(b, a.t.layout.row), index), right = lane_offset(b, {8, 16, 0, 0, 0});
  const ValueId from =
      b.binary(Op::Add, b.binary(Op::Add, a.inst.in[0], b.binary(Op::Mul, down, a.inst.in[1])), b.cast(right, index));
  for (int r = 0; r < a.t.rows; ++r)
    for (const int e : {0, 2})
      for (int c = 0; c < a.t.cols; c += 4) {
        std::array<ValueId, 4> v{};
        for (int j = 0; j < 4; ++j)
          v[static_cast<std::size_t>(j)] = word(blocks[static_cast<std::size_t>(r * a.t.cols + c + j)], e);
        for (const int step : {1, 2})
          for (const std::size_t low :
               step == 1 ? std::array<std::size_t, 2>{0, 2} : std::array<std::size_t, 2>{0, 1}) {
            const std::size_t high = low + static_cast<std::size_t>(step);
            const ValueId up = upper[static_cast<std::size_t>(step - 1)];
            const auto choose = [&](ValueId x, ValueId y) {
              return b.value({.op = Op::Select, .in = {up, x, y}}, {DType::U32});
            };
            const ValueId sent = choose(v[low], v[high]);
            const ValueId got = b.value({.op = Op::SimdShuffleXor, .index = step, .in = {sent}}, {DType::U32});
            const ValueId kept = v[low];
            v[low] = choose(got, kept);
            v[high] = choose(v[high], got);
          }
        Values list;
        for (const ValueId w : v)
          for (const bool high : {false, true}) list.push_back(half(w, high));
        const int row = a.t.layout.elements[static_cast<std::size_t>(e)][0] + r * a.t.layout.rows;
        ValueId at = from;
        if (row != 0) at = b.binary(Op::Add, at, b.binary(Op::Mul, a.inst.in[1], b.constant_int(index, row)));
        if (c != 0) at = b.binary(Op::Add, at, b.constant_int(index, c * a.t.layout.cols));
        b.store(a.inst.memory, at, block_of(b, list));
      }
}

void TileAccess::store(Builder& b, const Inst& inst, const TileBlocks& t, const std::vector<ValueId>& blocks) {
  const Type tile = k_.type(inst.in[4]);
  const Access a = access(b, inst, t, tile);
  const bool known = a.rows_exist && a.cols_exist;
  const bool quads = in_quads(a);
  note_ = (quads ? "stores of 16 bytes a lane, after an exchange between four" : "stores of each lane's elements") +
          checked(known);
  const auto write = [&](Builder& to) {
    const auto every = [&](Builder& in, bool rows, bool cols) {
      if (quads && rows && cols)
        store_quads(in, a, blocks);
      else
        store_all(in, a, rows, cols, blocks);
      return Values{};
    };
    if (known) {
      every(to, true, true);
      return Values{};
    }
    return branch(
        to, whole(to, inst, tile, a.rows_exist, a.cols_exist), {}, [&](Builder& in) { return every(in, true, true); },
        [&](Builder& in) { return every(in, a.rows_exist, a.cols_exist); });
  };
  // One of the lanes that hold the same elements stores them.
  if (const int twins = twins_of(t.layout))
    branch(b, is_first(b, twins), {}, write);
  else
    write(b);
}

std::string TileAccess::why_no_matrix_load(const Inst& inst, const TileBlocks& t, Type tile) const {
  const Memory& m = k_.at(inst.memory);
  if (tile.role != TileRole::Lhs && tile.role != TileRole::Rhs) return "no operand of a product";
  if (!options_.load_matrix) return "the target has no load_matrix";
  if (t.unit != MatrixUnit::Mma16) return fmt::format("{} takes elements as they come", info(t.unit).name);
  if (m.space != Space::Threadgroup) return "not in threadgroup memory";
  if (zeros(inst.in[0]) < 3) return "the first element's index is not known to be a multiple of 8";
  if (zeros(inst.in[1]) < 3) return "the distance of rows is not known to be a multiple of 8";
  return "";
}

/// Four 8 x 8 parts of the tile at a time. Lanes 8 j to 8 j + 7 give the rows of part j.
TileAccess::Values TileAccess::matrix_load(Builder& b, const Inst& inst, const TileBlocks& t, Type tile) const {
  struct Group {
    int row, col;                            // of the first part in the tile
    std::array<int, 2> bit0, bit1;           // what bits of j add
    std::array<std::array<int, 2>, 4> part;  // block and first element; block -1: not needed
  };
  std::vector<Group> groups;
  const int parts = t.layout.count() / 2;
  const auto place = [&](int block) { return t.at(block, 0); };
  if (parts == 4) {
    for (int n = 0; n < t.count(); ++n) {
      const auto [r, c] = place(n);
      groups.push_back({r, c, {8, 0}, {0, 8}, {{{n, 0}, {n, 2}, {n, 4}, {n, 6}}}});
    }
  } else {
    const auto pair = [&](int first, int second) {
      const auto [r, c] = place(first);
      const auto [r2, c2] = second < 0 ? std::array{r, c} : place(second);
      groups.push_back({r, c, {8, 0}, {r2 - r, c2 - c}, {{{first, 0}, {first, 2}, {second, 0}, {second, 2}}}});
    };
    for (int row = 0; row < t.rows; ++row)
      for (int col = 0; col + 1 < t.cols; col += 2) pair(row * t.cols + col, row * t.cols + col + 1);
    if (t.cols % 2 == 1)
      for (int row = 0; row < t.rows; row += 2)
        pair(row * t.cols + t.cols - 1, row + 1 < t.rows ? (row + 1) * t.cols + t.cols - 1 : -1);
  }
  const Type eight{tile.dtype, 8};
  std::vector<Values> found(static_cast<std::size_t>(t.count()), Values(static_cast<std::size_t>(t.layout.count())));
  Values out(found.size(), ValueId::None);
  const DType index = k_.type(inst.in[0]).dtype;
  for (const Group& g : groups) {
    const auto turned = [&](int r, int c) { return inst.transposed ? std::array{c, r} : std::array{r, c}; };
    const auto [d0, r0] = turned(g.bit0[0], g.bit0[1]);
    const auto [d1, r1] = turned(g.bit1[0], g.bit1[1]);
    const auto [down, right] = turned(g.row, g.col);
    const ValueId lane_down = lane_offset(b, {1, 2, 4, d0, d1}), lane_right = lane_offset(b, {0, 0, 0, r0, r1});
    ValueId at = b.binary(Op::Add, b.binary(Op::Add, inst.in[0], b.cast(lane_right, index)),
                          b.binary(Op::Mul, b.cast(lane_down, index), inst.in[1]));
    at = b.binary(Op::Add, at, b.binary(Op::Mul, inst.in[1], b.constant_int(index, down)));
    at = b.binary(Op::Add, at, b.constant_int(index, right));
    // A row of 8 gives the lane two neighbours of a row; an rhs block wants two of a column.
    const bool transposed = inst.transposed != (tile.role == TileRole::Rhs);
    const ValueId v =
        b.value({.op = Op::LoadMatrix, .transposed = transposed, .memory = inst.memory, .in = {at}}, eight);
    if (parts == 4) {
      out[static_cast<std::size_t>(g.part[0][0])] = v;
      continue;
    }
    for (int j = 0; j < 4; ++j) {
      const auto [block, e] = g.part[static_cast<std::size_t>(j)];
      if (block < 0) continue;
      for (int n = 0; n < 2; ++n)
        found[static_cast<std::size_t>(block)][static_cast<std::size_t>(e + n)] = b.extract(v, 2 * j + n);
    }
  }
  if (parts != 4)
    for (std::size_t n = 0; n < out.size(); ++n) out[n] = block_of(b, found[n]);
  return out;
}

}  // namespace mt
