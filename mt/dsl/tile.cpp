#include "mt/dsl/tile.h"

#include <fmt/format.h>

#include "mt/ir/verify_tiles.h"

namespace mt::detail {
namespace {

[[noreturn]] void fail(Here here, const std::string& what) {
  throw Error(fmt::format("{}: [{}] {}", to_string(Loc(here)), trace().kernel.name, what));
}

Type checked(Type t, Here here) {
  const std::string bad = bad_tile(t);
  if (!bad.empty()) fail(here, bad);
  return t;
}

ValueId u32_of(ValueId v, Here here) { return cast(v, DType::U32, here); }

/// a - b, or 0 where b is larger.
ValueId left(ValueId a, ValueId b, Here here) {
  const ValueId part = u32_of(b, here);
  return binary(Op::Sub, a, binary(Op::Min, a, part, here), here);
}

}  // namespace

Type tile_of(ValueId tile) { return trace().kernel.type(tile); }

MatrixPlace matrix_place(MemoryId m, ValueId base, ValueId stride, ValueId rows, ValueId cols, Here here) {
  Kernel& k = trace().kernel;
  const DType index = k.at(m).space == Space::Device ? DType::U64 : DType::U32;
  return {m, cast(base, index, here), cast(stride, index, here), u32_of(rows, here), u32_of(cols, here)};
}

MatrixPlace unbounded_place(MemoryId m, ValueId base, ValueId stride, Here here) {
  const ValueId all = literal_int(DType::U32, 0xffffffff, here);
  MatrixPlace p = matrix_place(m, base, stride, all, all, here);
  p.bounded = false;
  return p;
}

MatrixPlace matrix_at(const MatrixPlace& p, ValueId row, ValueId col, Here here) {
  const DType index = tile_of(p.base).dtype;
  MatrixPlace to = p;
  const ValueId down = binary(Op::Mul, cast(row, index, here), p.stride, here);
  to.base = binary(Op::Add, binary(Op::Add, p.base, down, here), cast(col, index, here), here);
  if (!p.bounded) return to;
  to.rows = left(p.rows, row, here);
  to.cols = left(p.cols, col, here);
  return to;
}

ValueId tile_load(const MatrixPlace& p, Type type, bool transposed, Here here) {
  const ValueId rows = transposed ? p.cols : p.rows, cols = transposed ? p.rows : p.cols;
  return trace().value(
      {.op = Op::TileLoad, .transposed = transposed, .memory = p.memory, .in = {p.base, p.stride, rows, cols}},
      checked(type, here), here);
}

void tile_store(const MatrixPlace& p, ValueId tile, bool transposed, Here here) {
  const ValueId rows = transposed ? p.cols : p.rows, cols = transposed ? p.rows : p.cols;
  trace().effect(
      {.op = Op::TileStore, .transposed = transposed, .memory = p.memory, .in = {p.base, p.stride, rows, cols, tile}},
      here);
}

ValueId tile_fill(TileRole role, int rows, int cols, ValueId value, Here here) {
  return trace().value({.op = Op::TileFill, .in = {value}}, checked(tile_type(role, DType::F32, rows, cols), here),
                       here);
}

ValueId tile_mma(ValueId acc, ValueId lhs, ValueId rhs, Here here) {
  const Type a = tile_of(lhs), b = tile_of(rhs), sum = tile_of(acc);
  if (a.cols != b.rows || a.rows != sum.rows || b.cols != sum.cols)
    fail(here, fmt::format("{} times {} does not add to {}; the depths of both operands agree, and the sides with the "
                           "acc's",
                           to_string(a), to_string(b), to_string(sum)));
  return trace().value({.op = Op::TileMma, .in = {acc, lhs, rhs}}, sum, here);
}

ValueId tile_cast(ValueId acc, DType dtype, Here here) {
  const Type t = tile_of(acc);
  return trace().value({.op = Op::TileCast, .in = {acc}}, tile_type(TileRole::Lhs, dtype, t.rows, t.cols), here);
}

ValueId tile_reduce(Combine c, ValueId acc, Here here) {
  return trace().value({.op = Op::TileReduce, .combine = c, .in = {acc}},
                       tile_type(TileRole::Rows, DType::F32, tile_of(acc).rows, 1), here);
}

}  // namespace mt::detail
