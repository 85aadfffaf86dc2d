// Tiles: matrices that a simdgroup holds together. The target decides which lane holds which element.
//
// `Acc` (f32) adds up products, `Lhs<T>` and `Rhs<T>` are their operands, `Rows` has one f32 for each row of an Acc.
// All are values; `TileVar<Acc>` is the state that assignments change. Sides are numbers of the host and multiples of
// 8; the sides of products are best multiples of 16, which every matrix unit takes. Every lane of the simdgroup must
// take part, with equal operands.
#pragma once
#include <utility>

#include "mt/dsl/memory.h"

namespace mt {

namespace detail {
struct MatrixPlace {
  MemoryId memory = MemoryId::None;
  ValueId base = ValueId::None, stride = ValueId::None;  // of one integer type
  ValueId rows = ValueId::None, cols = ValueId::None;    // u32
  bool bounded = true;                                   // else the author says that all of it exists
};
MatrixPlace matrix_place(MemoryId m, ValueId base, ValueId stride, ValueId rows, ValueId cols, Here here);
MatrixPlace unbounded_place(MemoryId m, ValueId base, ValueId stride, Here here);
MatrixPlace matrix_at(const MatrixPlace& p, ValueId row, ValueId col, Here here);
ValueId tile_load(const MatrixPlace& p, Type type, bool transposed, Here here);
void tile_store(const MatrixPlace& p, ValueId tile, bool transposed, Here here);
ValueId tile_fill(TileRole role, int rows, int cols, ValueId value, Here here);
ValueId tile_mma(ValueId acc, ValueId lhs, ValueId rhs, Here here);
ValueId tile_cast(ValueId acc, DType dtype, Here here);
ValueId tile_reduce(Combine c, ValueId acc, Here here);
Type tile_of(ValueId tile);
/// body(arguments of the region) gives the id of the element of the result.
template <class F>
ValueId tile_map(const std::vector<ValueId>& tiles, Here here, F&& body) {
  Trace& t = trace();
  Type shape = tile_of(tiles[0]);
  for (const ValueId v : tiles)
    if (tile_of(v).role == TileRole::Acc) shape = tile_of(v);
  const InstId owner = t.builder.add({.op = Op::TileMap, .in = tiles, .loc = here}, {shape});
  t.block(owner, [&](RegionId r) {
    std::vector<ValueId> args;
    for (std::size_t n = 0; n < tiles.size(); ++n) args.push_back(add_arg(t.kernel, r, {DType::F32}));
    for (int n = 0; n < 2; ++n) args.push_back(add_arg(t.kernel, r, {DType::U32}));
    const ValueId element = body(args);
    t.kernel.at(r).yields = {element};
  });
  return t.kernel.at(owner).out[0];
}
}  // namespace detail

/// A row-major matrix somewhere in memory, from an element on. What lies outside its rows and columns is read as 0 and
/// not written.
template <class T>
class Matrix {
 public:
  explicit Matrix(detail::MatrixPlace p) : place_(p) {}
  /// The part from that element on.
  Matrix at(Index row, Index col, Here here = Here::current()) const {
    return Matrix(detail::matrix_at(place_, row.id, col.id, here));
  }
  const detail::MatrixPlace& place() const { return place_; }

 private:
  detail::MatrixPlace place_;
};

/// Rows of a tensor from the view's first element on, `stride` elements from one to the next.
template <class T, bool R, bool W>
Matrix<T> matrix(const View<T, R, W>& v, Index stride, Index rows, Index cols, Here here = Here::current()) {
  return Matrix<T>(detail::matrix_place(v.memory(), v.place(Index(0, here)), stride.id, rows.id, cols.id, here));
}
/// Rows in threadgroup memory from element `first` on. All that is read of it must exist.
template <class T>
Matrix<T> matrix(const Shared<T>& a, Index first, int stride, Here here = Here::current()) {
  return Matrix<T>(detail::unbounded_place(a.memory(), first.id, Index(stride, here).id, here));
}

/// The same with bounds: what lies outside is read as 0 and not written.
template <class T>
Matrix<T> matrix(const Shared<T>& a, Index first, int stride, Index rows, Index cols, Here here = Here::current()) {
  return Matrix<T>(detail::matrix_place(a.memory(), first.id, Index(stride, here).id, rows.id, cols.id, here));
}

class Acc;
class Rows;
template <class T>
class Lhs;
template <class T>
class Rhs;

/// What every tile has.
class AnyTile {
 public:
  explicit AnyTile(ValueId id) : id_(id) {}
  ValueId id() const { return id_; }
  int rows() const { return detail::tile_of(id_).rows; }
  int cols() const { return detail::tile_of(id_).cols; }

 private:
  ValueId id_;
};

template <class T>
class Lhs : public AnyTile {
 public:
  using AnyTile::AnyTile;
};
template <class T>
class Rhs : public AnyTile {
 public:
  using AnyTile::AnyTile;
};

class Rows : public AnyTile {
 public:
  using AnyTile::AnyTile;
  static Rows fill(int rows, At<f32, Form::One> value) {
    return Rows(detail::tile_fill(TileRole::Rows, rows, 1, value.id, value.here));
  }
};

class Acc : public AnyTile {
 public:
  using AnyTile::AnyTile;
  static Acc fill(int rows, int cols, At<f32, Form::One> value) {
    return Acc(detail::tile_fill(TileRole::Acc, rows, cols, value.id, value.here));
  }
  /// As the left operand of a product, rounded once to T.
  template <class T>
  Lhs<T> as_lhs(Here here = Here::current()) const {
    return Lhs<T>(detail::tile_cast(id(), dtype_of<T>, here));
  }
};

/// A variable that holds a tile.
template <class Tile>
class TileVar {
 public:
  explicit TileVar(const Tile& first, Here here = Here::current()) : var_(detail::make_var(first.id(), here)) {}
  TileVar(const TileVar&) = delete;
  Tile get(Here here = Here::current()) const { return Tile(detail::get_var(var_, here)); }
  operator Tile() const { return get(); }
  void set(const Tile& v, Here here = Here::current()) { detail::set_var(var_, v.id(), here); }
  TileVar& operator=(const Tile& v) {
    set(v);
    return *this;
  }
  TileVar& operator=(const TileVar& v) {
    set(v.get());
    return *this;
  }

 private:
  ValueId var_;
};

/// Element (i, j) of the operand is m(i, j); with `_t`, m(j, i).
template <class T>
Lhs<T> load_lhs(const Matrix<T>& m, int rows, int depth, Here here = Here::current()) {
  return Lhs<T>(detail::tile_load(m.place(), tile_type(TileRole::Lhs, dtype_of<T>, rows, depth), false, here));
}
template <class T>
Lhs<T> load_lhs_t(const Matrix<T>& m, int rows, int depth, Here here = Here::current()) {
  return Lhs<T>(detail::tile_load(m.place(), tile_type(TileRole::Lhs, dtype_of<T>, rows, depth), true, here));
}
template <class T>
Rhs<T> load_rhs(const Matrix<T>& m, int depth, int cols, Here here = Here::current()) {
  return Rhs<T>(detail::tile_load(m.place(), tile_type(TileRole::Rhs, dtype_of<T>, depth, cols), false, here));
}
template <class T>
Rhs<T> load_rhs_t(const Matrix<T>& m, int depth, int cols, Here here = Here::current()) {
  return Rhs<T>(detail::tile_load(m.place(), tile_type(TileRole::Rhs, dtype_of<T>, depth, cols), true, here));
}
template <class T>
Acc load_acc(const Matrix<T>& m, int rows, int cols, Here here = Here::current()) {
  return Acc(detail::tile_load(m.place(), tile_type(TileRole::Acc, DType::F32, rows, cols), false, here));
}
/// Rows from memory: row i is m(i, 0).
template <class T>
Rows load_rows(const Matrix<T>& m, int rows, Here here = Here::current()) {
  return Rows(detail::tile_load(m.place(), tile_type(TileRole::Rows, DType::F32, rows, 1), false, here));
}
/// Each element rounded once to T.
template <class T>
void store(const Matrix<T>& m, const Acc& tile, Here here = Here::current()) {
  detail::tile_store(m.place(), tile.id(), false, here);
}
template <class T>
void store(const Matrix<T>& m, const Rows& tile, Here here = Here::current()) {
  detail::tile_store(m.place(), tile.id(), false, here);
}

/// acc + a * b, summed in f32.
template <class T>
Acc mma(const Acc& acc, const Lhs<T>& a, const Rhs<T>& b, Here here = Here::current()) {
  return Acc(detail::tile_mma(acc.id(), a.id(), b.id(), here));
}
inline Rows row_sum(const Acc& a, Here here = Here::current()) {
  return Rows(detail::tile_reduce(Combine::Sum, a.id(), here));
}
/// NaN where the row has one.
inline Rows row_max(const Acc& a, Here here = Here::current()) {
  return Rows(detail::tile_reduce(Combine::Max, a.id(), here));
}

namespace detail {
inline F32 element(ValueId v) { return value_from<f32, Form::One>(v); }
inline U32 coordinate(ValueId v) { return value_from<u32, Form::One>(v); }
inline ValueId result(const F32& v) { return v.id(); }
}  // namespace detail

/// The tile of f(element, row, column).
template <class F>
Acc map(const Acc& a, F&& f, Here here = Here::current()) {
  return Acc(detail::tile_map({a.id()}, here, [&](const std::vector<ValueId>& x) {
    return detail::result(f(detail::element(x[0]), detail::coordinate(x[1]), detail::coordinate(x[2])));
  }));
}
/// The tile of f(element, the row's number, row, column).
template <class F>
Acc map(const Acc& a, const Rows& r, F&& f, Here here = Here::current()) {
  return Acc(detail::tile_map({a.id(), r.id()}, here, [&](const std::vector<ValueId>& x) {
    return detail::result(
        f(detail::element(x[0]), detail::element(x[1]), detail::coordinate(x[2]), detail::coordinate(x[3])));
  }));
}
/// f(element of a, element of b, row, column).
template <class F>
Acc map(const Acc& a, const Acc& b, F&& f, Here here = Here::current()) {
  return Acc(detail::tile_map({a.id(), b.id()}, here, [&](const std::vector<ValueId>& x) {
    return detail::result(
        f(detail::element(x[0]), detail::element(x[1]), detail::coordinate(x[2]), detail::coordinate(x[3])));
  }));
}
/// f(number, row).
template <class F>
Rows map(const Rows& a, F&& f, Here here = Here::current()) {
  return Rows(detail::tile_map({a.id()}, here, [&](const std::vector<ValueId>& x) {
    return detail::result(f(detail::element(x[0]), detail::coordinate(x[1])));
  }));
}
template <class F>
Rows map(const Rows& a, const Rows& b, F&& f, Here here = Here::current()) {
  return Rows(detail::tile_map({a.id(), b.id()}, here, [&](const std::vector<ValueId>& x) {
    return detail::result(f(detail::element(x[0]), detail::element(x[1]), detail::coordinate(x[2])));
  }));
}
template <class F>
Rows map(const Rows& a, const Rows& b, const Rows& c, F&& f, Here here = Here::current()) {
  return Rows(detail::tile_map({a.id(), b.id(), c.id()}, here, [&](const std::vector<ValueId>& x) {
    return detail::result(
        f(detail::element(x[0]), detail::element(x[1]), detail::element(x[2]), detail::coordinate(x[3])));
  }));
}

/// Waits until all but the simdgroup's last `pending` products have read their operands. Where products run beside the
/// work they otherwise end before the next barrier; this lets some run on, and what they read must stay as it is.
inline void products_wait(int pending, Here here = Here::current()) {
  trace().effect({.op = Op::TileWait, .index = pending}, here);
}
/// Starts to copy `lanes` elements (4, 8 or 16 bytes) from a tensor to threadgroup memory, of which `exist` exist and
/// the others become 0. Targets without such copies copy at once. See copy_wait.
template <class T, bool W>
void copy_async(const Shared<T>& to, Index i, const View<T, true, W>& from, Index j, int lanes, Index exist,
                Here here = Here::current()) {
  trace().effect({.op = Op::CopyAsync,
                  .index = lanes,
                  .memory = to.memory(),
                  .from = from.memory(),
                  .in = {i.id, from.place(j), detail::cast(exist.id, DType::U32, here)}},
                 here);
}
/// The thread's copies since the last commit form a group.
inline void copy_commit(Here here = Here::current()) { trace().effect({.op = Op::CopyCommit}, here); }
/// Waits for all but the thread's last `pending` groups; a barrier behind it shows them to the threadgroup.
inline void copy_wait(int pending, Here here = Here::current()) {
  trace().effect({.op = Op::CopyWait, .index = pending}, here);
}

}  // namespace mt
