// Attention of some queries over keys that come in tiles, with the softmax kept relative to a running maximum.
//
// Rows are queries, logits in base 2, where kept. The weighted sums are kept in pieces of `piece` columns of the
// values. Source of the recurrence: Milakov and Gimelshein, Online normalizer calculation for softmax, 2018.
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/lib/activations.h"
#include "kernels/lib/attention.h"
#include "kernels/lib/tile_ring.h"
#include "mt/dsl/dsl.h"

namespace mt {

class Flash {
 public:
  Flash(int rows, int dim, int piece) : Flash(rows, dim, piece, Rows::fill(rows, -inf), Rows::fill(rows, 0.f)) {}
  /// Rows begin with a logit that has no value, a sink: -inf is none.
  Flash(int rows, int dim, int piece, const F32& sink)
      : Flash(rows, dim, piece, Rows::fill(rows, sink), Rows::fill(rows, select(sink == -inf, F32(0.f), F32(1.f)))) {}

  /// Columns of a tile for rows of `dim` elements: blocks of 16 on GPUs, so that products suit every matrix unit. What
  /// lies behind the row's end is 0 in operands, and not stored.
  static int padded(int dim, bool gpu) { return gpu ? (dim + 15) / 16 * 16 : dim; }

  /// Adds keys: logits of a row for each, in units of `unit` > 0, and `value(d, width)`, the columns of their values
  /// from d on, as right operand. Weights are rounded to T.
  template <Storage T, class V>
  void add(const Acc& logits, const F32& unit, V&& value) {
    const Rows before = top_;
    const Rows top = map(before, row_max(logits), [&](F32 a, F32 b, U32) { return max(a, b * unit); });
    // Rows that have seen nothing: -inf - -inf would be NaN.
    const Rows reference = map(top, [](F32 t, U32) { return select(t == -inf, 0.f, t); });
    const Rows fade = map(before, reference, [](F32 a, F32 b, U32) { return exp2(a - b); });
    const Acc weights = map(logits, reference, [&](F32 s, F32 t, U32, U32) { return exp2_for<T>(fma(s, unit, -t)); });
    total_ = map(total_.get(), fade, row_sum(weights), [](F32 a, F32 f, F32 b, U32) { return fma(a, f, b); });
    top_ = top;
    const Lhs<T> share = weights.as_lhs<T>();
    int d = 0;
    for (auto& sum : values_) {
      const Acc kept = map(sum->get(), fade, [](F32 o, F32 f, U32, U32) { return o * f; });
      *sum = mma(kept, share, value(d, kept.cols()));
      d += piece_;
    }
  }
  /// What weights lose that are made by exp2_for and rounded to T.
  template <Storage T>
  static oracle::OperandRounding weight_rounding() {
    oracle::OperandRounding r = kOperandRounding<T>;
    if (size_of(dtype_of<T>) == 2) {
      r.relative += kExpLoss<T>;
      r.floor = std::max(r.floor, 0x1p-126);
    }
    return r;
  }
  /// f(first column, weighted sums of a piece).
  template <class F>
  void each_piece(F&& f) const {
    int d = 0;
    for (const auto& sum : values_) {
      f(d, sum->get());
      d += piece_;
    }
  }
  /// |scale| in base 2, as a unit for add(): 0 becomes the least normal number, so that what is hidden stays so.
  static F32 unit(const F32& scale) { return max(abs(scale * kLog2E), F32(0x1p-126f)); }
  Rows top() const { return top_; }
  Rows total() const { return total_; }
  /// 1 / total; 0 for rows that saw nothing.
  Rows inverse() const {
    return map(total_.get(), [](F32 t, U32) { return select(t == 0.f, 0.f, recip(t)); });
  }

 private:
  Flash(int rows, int dim, int piece, const Rows& top, const Rows& total) : piece_(piece), top_(top), total_(total) {
    for (int d = 0; d < dim; d += piece)
      values_.push_back(std::make_unique<TileVar<Acc>>(Acc::fill(rows, std::min(piece, dim - d), 0.f)));
  }
  int piece_;
  TileVar<Rows> top_, total_;
  std::vector<std::unique_ptr<TileVar<Acc>>> values_;
};

}  // namespace mt
