// Tiles of a matrix on their way through threadgroup memory: some are multiplied while the next ones arrive.
#pragma once
#include <algorithm>
#include <string>

#include "mt/dsl/dsl.h"
#include "mt/oracle/operand.h"

namespace mt {

/// body(i) for i = own, own + sharing, … below `all`, which `sharing` threads do together: turn after turn where they
/// are few, else in a loop.
template <class F>
void share_out(int all, const U32& own, int sharing, F&& body) {
  constexpr int kUnrolled = 8;
  if (all > kUnrolled * sharing) {
    for_(own, U32(static_cast<u32>(all)), static_cast<u32>(sharing), body);
    return;
  }
  for (int first = 0; first < all; first += sharing) {
    const U32 i = own + static_cast<u32>(first);
    if (first + sharing <= all)
      body(i);
    else
      // Equivalent if always in mt_moe_gather_qmm_mma*: the first step writes beyond its stage what the next one does.
      if_(i < static_cast<u32>(all), [&] { body(i); });
  }
}

enum class RingOf { Group, Simd };  // who shares the tiles: all threads, or each simdgroup has its own

/// `stages` tiles of rows x cols elements. Rows are padded by 16 bytes, so that the same columns of neighbouring rows
/// lie in different banks; or the tiles lie in panels of 64 columns, which products of four simdgroups read in place.
template <Storage T>
class TileRing {
 public:
  TileRing(const std::string& name, int rows, int cols, int stages, RingOf of = RingOf::Group,
           Layout layout = Layout::Plain)
      : rows_(rows),
        cols_(cols),
        stride_(layout == Layout::Plain ? padded(cols) : kPanelColumns),
        tile_(rows * (layout == Layout::Plain ? stride_ : cols)),
        stages_(stages),
        of_(of),
        layout_(layout),
        memory_(name, std::int64_t{of == RingOf::Simd ? simd_count() : 1} * stages * tile_, layout) {
    require(layout == Layout::Plain || (cols % kPanelColumns == 0 && rows % 8 == 0),
            "a tile in panels has a multiple of 64 columns and of 8 rows");
  }

  static constexpr int kRun = 16 / size_of(dtype_of<T>);  // elements of one copy
  static int padded(int cols) { return cols + kRun; }
  static std::int64_t bytes(int rows, int cols, int stages) {
    return std::int64_t{stages} * rows * padded(cols) * size_of(dtype_of<T>);
  }

  /// The threads that share the ring start to copy the tile at (row, col) of a row-major matrix of `total_rows` x
  /// `total_cols` elements, `ld` from row to row. What lies outside it becomes 0.
  template <bool W>
  void fetch(const U32& stage, const View<T, true, W>& from, const U32& row, const U32& col, const U32& total_rows,
             const U32& total_cols, const U64& ld) const {
    const int runs = cols_ / kRun, all = rows_ * runs, sharing = of_ == RingOf::Simd ? kLanes : threads();
    const U32 slot = begin(stage), own = of_ == RingOf::Simd ? lane_id() : thread_id();
    share_out(all, own, sharing, [&](U32 i) {
      const U32 r = i / runs, c = i % runs * kRun;
      // Equivalent if first_operand of add: rows past the end of an expert's part are other rows of x, and not stored.
      const U32 exist = select(row + r < total_rows, total_cols - min(total_cols, col + c), 0u);
      copy_async(memory_, slot + inside(r, c), from, cast<u64>(row + r) * ld + cast<u64>(col + c), kRun, exist);
    });
  }
  /// A tile; of one in panels the 64 columns from `col` on.
  Matrix<T> at(const U32& stage, int col = 0) const {
    const U32 first = begin(stage);
    return matrix(memory_, layout_ == Layout::Plain ? first + col : first + col * rows_, stride_);
  }
  /// Index in memory() of element (row, col) of a tile.
  U32 place(const U32& stage, const U32& row, const U32& col) const { return begin(stage) + inside(row, col); }
  /// Stores neighbouring elements from a place on, rounded once to T.
  void put(const U32& place, const Vec<f32>& values, Here here = Here::current()) const {
    detail::store(memory_.memory(), place.id(), values.id(), here);
  }

 private:
  U32 begin(const U32& stage) const { return (of_ == RingOf::Simd ? simd_id() * stages_ + stage : stage) * tile_; }
  U32 inside(const U32& row, const U32& col) const {
    if (layout_ == Layout::Plain || cols_ == kPanelColumns) return row * stride_ + col;
    return col / kPanelColumns * (rows_ * kPanelColumns) + row * stride_ + col % kPanelColumns;
  }
  int rows_, cols_, stride_, tile_, stages_;
  RingOf of_;
  Layout layout_;
  Shared<T> memory_;
};

/// use(step, stage) for every step, with what fetch(step, stage) has begun to bring into that stage of rings; the next
/// stages - 1 steps are on their way meanwhile. `of` says who shares the rings. Where use() makes `behind` products,
/// not 0, these may run on until the next ones have begun; then a step less is on its way.
template <class Fetch, class Use>
void pipelined(const U32& steps, int stages, RingOf of, Fetch&& fetch, Use&& use, int behind = 0) {
  const int ahead = std::max(stages - (behind > 0 ? 2 : 1), 0);
  const auto meet = [&] {
    if (of == RingOf::Simd)
      simd_barrier();
    else
      barrier();
  };
  const auto begin = [&](const U32& step) {
    if_(step < steps, [&] { fetch(step, step % stages); });
    copy_commit();
  };
  for (int s : unroll(ahead)) begin(U32(s));
  for_(steps, [&](U32 step) {
    if (ahead == 0) begin(step);
    copy_wait(ahead == 0 ? 0 : ahead - 1);
    meet();
    // Into what the step before has used, or with products that run on the one before that.
    const bool first = ahead > 0 && behind == 0;
    if (first) begin(step + ahead);
    use(step, step % stages);
    if (ahead > 0 && !first) begin(step + ahead);
    if (behind > 0) products_wait(behind);
    if (ahead == 0) meet();
  });
}

/// What numbers of f32 lose that become operands of tiles of T: nothing where they stay f32.
template <Storage T>
inline constexpr oracle::OperandRounding kOperandRounding =
    dtype_of<T> == DType::F32 ? oracle::OperandRounding{}
    : dtype_of<T> == DType::F16
        ? oracle::OperandRounding{.relative = 0x1p-11, .floor = 0x1p-25, .largest = 65504, .dtype = DType::F16}
        : oracle::OperandRounding{.relative = 0x1p-8, .floor = 0x1p-134, .largest = 0x1.fep127, .dtype = DType::BF16};

}  // namespace mt
