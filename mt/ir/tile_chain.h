// A kernel that uses every tile op on operands of any dtype, shape and place: what tests of targets run and print.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "mt/ir/edit.h"

namespace mt {

/// Which chain of tiles, and on what.
struct TileChain {
  DType t = DType::BF16;
  int rows = 16, cols = 16, depth = 16;  // of a simdgroup's product
  bool lhs_t = false, rhs_t = false;
  bool shared = false;         // operands come through threadgroup memory
  bool known = false;          // rows and columns are constants
  int m = 16, n = 16, k = 32;  // what exists
  int pad = 8;                 // elements between rows beyond the row
  int first = 0;               // element where matrices start
  int copy = 8;                // elements of one copy

  int lda() const { return (lhs_t ? m : k) + pad; }
  int ldb() const { return (rhs_t ? k : n) + pad; }
  std::string name() const {
    return fmt::format("{} {}x{}x{} {}{}{}{} of {}x{}x{} pad {} first {}", name_of(t), rows, cols, depth,
                       lhs_t ? "lhs_t " : "", rhs_t ? "rhs_t " : "", shared ? "shared " : "", known ? "known" : "", m,
                       n, k, pad, first);
  }
};

/// c = c + a b, then what attention does with it: o = (map of c, less its rows' maxima) times v; r = the maxima, s =
/// row sums. Two simdgroups, each with its own half of everything.
class TileChainKernel {
 public:
  explicit TileChainKernel(const TileChain& c) : c_(c), b_(k_) {}

  Kernel make() {
    k_.name = "tiles";
    k_.threads = 64;
    const auto device = [&](const char* name, DType t, Access access) {
      k_.memories.push_back({.name = name, .dtype = t, .access = access, .shape = {"n"}});
      return static_cast<MemoryId>(k_.memories.size() - 1);
    };
    a_ = device("a", c_.t, Access::In);
    bm_ = device("b", c_.t, Access::In);
    v_ = device("v", c_.t, Access::In);
    out_ = device("c", DType::F32, Access::InOut);
    o_ = device("o", c_.t, Access::Out);
    r_ = device("r", DType::F32, Access::InOut);
    k_.scalars = {{.name = "m"}, {.name = "n"}, {.name = "k"}, {.name = "sa"}, {.name = "sb"}};
    simd_ = b_.value({.op = Op::SimdId}, {DType::U32});
    const ValueId sa = param(3, c_.lda()), sb = param(4, c_.ldb());
    Place a{a_, add(times(simd_, matrix_count(c_.lhs_t ? c_.k : c_.m, c_.lhs_t ? c_.m : c_.k)), c_.first), sa};
    Place bp{bm_, add(times(simd_, matrix_count(c_.rhs_t ? c_.n : c_.k, c_.rhs_t ? c_.k : c_.n)), c_.first), sb};
    if (c_.shared) {
      a = staged(a, "as", c_.lhs_t ? c_.k : c_.m, c_.lhs_t ? c_.m : c_.k);
      bp = staged(bp, "bs", c_.rhs_t ? c_.n : c_.k, c_.rhs_t ? c_.k : c_.n);
      b_.add({.op = Op::CopyCommit}, {});
      b_.add({.op = Op::CopyWait, .index = 0}, {});
      b_.add({.op = Op::Barrier}, {});
    }
    const ValueId m = known(0, c_.m), n = known(1, c_.n), depth = known(2, c_.k);
    const ValueId ldc = b_.constant_int(DType::U32, c_.cols);
    const ValueId c_base = times(simd_, c_.rows * c_.cols);
    const Type acc = tile_type(TileRole::Acc, DType::F32, c_.rows, c_.cols);
    const Type column = tile_type(TileRole::Rows, DType::F32, c_.rows, 1);
    const ValueId first = b_.value({.op = Op::TileLoad, .memory = out_, .in = {c_base, ldc, m, n}}, acc);

    // The products, and how often there was one.
    const ValueId zero = b_.constant_int(DType::U32, 0), one = b_.constant_int(DType::U32, 1);
    const ValueId step = b_.constant_int(DType::U32, c_.depth);
    const InstId loop = b_.add({.op = Op::For, .in = {zero, depth, step, first, zero}}, {acc, {DType::U32}});
    k_.at(k_.at(loop).out[0]).name = "sum";
    const RegionId body = add_region(k_, loop);
    const ValueId at = add_arg(k_, body, {DType::U32}), sum = add_arg(k_, body, acc);
    const ValueId trips = add_arg(k_, body, {DType::U32});
    {
      Builder in(k_, body);
      const ValueId left = in.binary(Op::Sub, depth, in.binary(Op::Min, depth, at));
      const ValueId x = operand(in, a, c_.lhs_t, tile_type(TileRole::Lhs, c_.t, c_.rows, c_.depth), zero, at, m, left);
      const ValueId y = operand(in, bp, c_.rhs_t, tile_type(TileRole::Rhs, c_.t, c_.depth, c_.cols), at, zero, left, n);
      const ValueId next = in.value({.op = Op::TileMma, .in = {sum, x, y}}, acc);
      k_.at(body).yields = {next, in.binary(Op::Add, trips, one)};
    }
    const ValueId product = k_.at(loop).out[0], count = k_.at(loop).out[1];

    const ValueId shifted = map({product}, acc, [&](Builder& in, const std::vector<ValueId>& x) {
      const ValueId row = in.cast(x[1], DType::F32), col = in.cast(x[2], DType::F32);
      const ValueId half = in.binary(Op::Mul, x[0], in.constant_f32(0.5f));
      return in.binary(Op::Sub, in.binary(Op::Add, half, row), in.binary(Op::Mul, col, in.constant_f32(0.25f)));
    });
    const ValueId most = b_.value({.op = Op::TileReduce, .combine = Combine::Max, .in = {shifted}}, column);
    const ValueId lower = map({shifted, most}, acc, [](Builder& in, const std::vector<ValueId>& x) {
      return in.binary(Op::Sub, x[0], x[1]);
    });
    // One of two tiles by a condition that only the launch knows.
    const ValueId few = b_.binary(Op::Lt, count, b_.constant_int(DType::U32, 2));
    const InstId choice = b_.add({.op = Op::If, .in = {few}}, {acc});
    for (int side = 0; side < 2; ++side) {
      const RegionId r = add_region(k_, choice);
      Builder in(k_, r);
      const ValueId nothing = in.value({.op = Op::TileFill, .in = {in.constant_f32(2.0f)}}, acc);
      k_.at(r).yields = {side == 0 ? nothing : lower};
    }
    const ValueId p =
        b_.value({.op = Op::TileCast, .in = {k_.at(choice).out[0]}}, tile_type(TileRole::Lhs, c_.t, c_.rows, c_.cols));
    const ValueId cols = b_.constant_int(DType::U32, c_.cols), rows = b_.constant_int(DType::U32, c_.rows);
    const ValueId v = b_.value({.op = Op::TileLoad, .memory = v_, .in = {zero, cols, cols, n}},
                               tile_type(TileRole::Rhs, c_.t, c_.cols, c_.cols));
    const ValueId start = b_.value({.op = Op::TileFill, .in = {b_.constant_f32(1.0f)}}, acc);
    const ValueId o = b_.value({.op = Op::TileMma, .in = {start, p, v}}, acc);
    const ValueId total = b_.value({.op = Op::TileReduce, .combine = Combine::Sum, .in = {o}}, column);
    const ValueId r_base = times(simd_, 2 * c_.rows);
    const ValueId before = b_.value({.op = Op::TileLoad, .memory = r_, .in = {r_base, one, m, one}}, column);
    const ValueId both = map({most, before}, column, [](Builder& in, const std::vector<ValueId>& x) {
      return in.binary(Op::Add, in.binary(Op::Add, x[0], x[1]), in.cast(x[2], DType::F32));
    });
    store(out_, c_base, ldc, m, n, product, false);
    store(o_, c_base, rows, m, n, o, true);
    store(r_, r_base, one, m, one, both, false);
    store(r_, add(r_base, c_.rows), one, rows, one, total, false);
    return k_;
  }

 private:
  struct Place {
    MemoryId memory;
    ValueId base, stride;
  };
  int matrix_count(int rows, int cols) const { return rows * (cols + c_.pad); }
  ValueId times(ValueId v, int n) { return b_.binary(Op::Mul, v, b_.constant_int(DType::U32, n)); }
  ValueId add(ValueId v, int n) { return n == 0 ? v : b_.binary(Op::Add, v, b_.constant_int(DType::U32, n)); }
  ValueId param(int n, int value) {
    k_.scalars[static_cast<std::size_t>(n)].multiple_of = std::gcd(value, 8);
    return b_.value({.op = Op::Param, .index = n}, {DType::U32});
  }
  ValueId known(int n, int value) {
    return c_.known ? b_.constant_int(DType::U32, value) : b_.value({.op = Op::Param, .index = n}, {DType::U32});
  }
  template <class F>
  ValueId map(const std::vector<ValueId>& in, Type out, F f) {
    const InstId id = b_.add({.op = Op::TileMap, .in = in}, {out});
    const RegionId r = add_region(k_, id);
    std::vector<ValueId> args;
    for (std::size_t n = 0; n < in.size(); ++n) args.push_back(add_arg(k_, r, {DType::F32}));
    for (int n = 0; n < 2; ++n) args.push_back(add_arg(k_, r, {DType::U32}));
    Builder inner(k_, r);
    const ValueId y = f(inner, args);
    k_.at(r).yields = {y};
    return k_.at(id).out[0];
  }
  /// Element (row, col) on of a matrix in memory, as a tile.
  ValueId operand(Builder& in, const Place& p, bool transposed, Type t, ValueId row, ValueId col, ValueId rows,
                  ValueId cols) {
    const ValueId down = transposed ? col : row, right = transposed ? row : col;
    const ValueId base = in.binary(Op::Add, in.binary(Op::Add, p.base, in.binary(Op::Mul, down, p.stride)), right);
    return in.value(
        {.op = Op::TileLoad, .transposed = transposed, .memory = p.memory, .in = {base, p.stride, rows, cols}}, t);
  }
  void store(MemoryId m, ValueId base, ValueId stride, ValueId rows, ValueId cols, ValueId tile, bool transposed) {
    b_.add({.op = Op::TileStore, .transposed = transposed, .memory = m, .in = {base, stride, rows, cols, tile}}, {});
  }
  /// Each simdgroup copies its rows of `cols` elements to threadgroup memory, a row a lane; what is beyond is zero.
  Place staged(const Place& from, const char* name, int rows, int cols) {
    const int width = (cols + c_.copy - 1) / c_.copy * c_.copy, stride = width + c_.pad;
    k_.memories.push_back(
        {.name = name, .space = Space::Threadgroup, .dtype = c_.t, .count = 2 * rows * stride + c_.first});
    const auto m = static_cast<MemoryId>(k_.memories.size() - 1);
    const ValueId lane = b_.value({.op = Op::LaneId}, {DType::U32});
    const Place to{m, add(times(simd_, rows * stride), c_.first), b_.constant_int(DType::U32, stride)};
    const ValueId end = b_.constant_int(DType::U32, rows), step = b_.constant_int(DType::U32, kLanes);
    const InstId loop = b_.add({.op = Op::For, .in = {lane, end, step}}, {});
    const RegionId body = add_region(k_, loop);
    const ValueId row = add_arg(k_, body, {DType::U32});
    Builder in(k_, body);
    for (int c = 0; c < width; c += c_.copy) {
      const auto at = [&](const Place& p) {
        const ValueId start = in.binary(Op::Add, p.base, in.binary(Op::Mul, row, p.stride));
        return in.binary(Op::Add, start, in.constant_int(DType::U32, c));
      };
      const ValueId exist = in.constant_int(DType::U32, cols - c);
      in.add({.op = Op::CopyAsync, .index = c_.copy, .memory = m, .from = from.memory, .in = {at(to), at(from), exist}},
             {});
    }
    return to;
  }

  const TileChain c_;
  Kernel k_;
  Builder b_;
  ValueId simd_ = ValueId::None;
  MemoryId a_{}, bm_{}, v_{}, out_{}, o_{}, r_{};
};

/// Its scalars: what exists, and the distances of rows.
inline std::vector<std::uint64_t> tile_chain_scalars(const TileChain& c) {
  std::vector<std::uint64_t> list;
  for (const int n : {c.m, c.n, c.k, c.lda(), c.ldb()}) list.push_back(static_cast<std::uint64_t>(n));
  return list;
}
/// Elements of its device memories a, b, v, c, o, r.
inline std::vector<int> tile_chain_counts(const TileChain& c) {
  const auto count = [&](int rows, int cols) { return 2 * rows * (cols + c.pad) + c.first; };
  return {c.lhs_t ? count(c.k, c.m) : count(c.m, c.k),
          c.rhs_t ? count(c.n, c.k) : count(c.k, c.n),
          c.cols * c.cols,
          2 * c.rows * c.cols,
          2 * c.rows * c.cols,
          4 * c.rows};
}

inline Kernel tile_chain(const TileChain& c) { return TileChainKernel(c).make(); }

}  // namespace mt
