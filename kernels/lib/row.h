// What kernels over rows share: a sum that keeps its lanes apart until the end, geometry, problems and traffic.
#pragma once
#include <initializer_list>

#include "mt/dsl/dsl.h"

namespace mt {

/// A running combination over a row that for_row_ walks in runs of `width` elements: whole runs combine lane by lane,
/// so that the lanes of a thread meet only once, in total().
class RowAccumulator {
 public:
  RowAccumulator(Combine c, int width, float first) : combine_(c), lanes_(width, first), tail_(first) {}
  void add(const Vec<f32>& v) {
    if (v.lanes() == lanes_.lanes())
      lanes_ = apply(v, as_value(lanes_));
    else
      tail_ = apply(v[0], as_value(tail_));
  }
  /// This thread's part.
  F32 total(Here here = Here::current()) const {
    const F32 lanes = value_from<f32, Form::One>(detail::vector_reduce(combine_, as_value(lanes_).id(), here));
    return apply(lanes, as_value(tail_));
  }

 private:
  template <Form F>
  BasicValue<f32, F> apply(const BasicValue<f32, F>& x, const BasicValue<f32, F>& y) const {
    switch (combine_) {
      case Combine::Sum:
        return x + y;
      case Combine::Prod:
        return x * y;
      case Combine::Max:
        return max(x, y);
      case Combine::Min:
        return min(x, y);
      default:
        MT_ICE("a row accumulator sums, multiplies, or takes extremes");
    }
  }
  Combine combine_;
  VecVar<f32> lanes_;
  Var<f32> tail_;
};

/// Threads of a threadgroup that works on one row of n elements.
inline int row_threads(std::int64_t n, TargetTraits traits) { return !traits.gpu ? 32 : n <= 1024 ? 128 : 256; }
inline Launch row_launch(const Problem& p, int threads) {
  require(p["n"] > 0, "a row must have at least one element: n > 0");
  return {.groups = {p["rows"]}, .threads = threads};
}
/// Lengths around a simdgroup, a run of every thread, and more than one of them; no rows at all.
inline Problems row_tests() {
  return over({{"rows", 3}}, "n", {1, 2, 31, 32, 33, 127, 128, 1000, 1024, 1025, 4097}) +
         Problems{{{"rows", 0}, {"n", 64}}};
}
inline Problems row_benches() { return over({{"rows", 4096}}, "n", {4096, 1024}); }
/// Rows in, `rows_out` elements of T written for each element read (0: one a row), and small vectors of length n
/// besides.
template <class T>
Work row_work(const Problem& p, bool rows_out, int vectors, double flops_an_element) {
  const double elements = static_cast<double>(p["rows"] * p["n"]), size = size_of(dtype_of<T>);
  return {.read = (elements + vectors * static_cast<double>(p["n"])) * size,
          .written = (rows_out ? elements : static_cast<double>(p["rows"])) * size,
          .flops = flops_an_element * elements};
}

}  // namespace mt
