// What kernels over rows share: a sum that keeps its lanes apart until the end, geometry, problems and traffic.
#pragma once
#include <initializer_list>

#include "mt/dsl/dsl.h"

namespace mt {

/// A running combination over a row that for_row_ walks in runs of `width` elements: whole runs combine lane by lane,
/// so that the lanes of a thread meet only once, in total().
class RowAccumulator {
 public:
  enum class Nan { Kept, Lost };  // Lost: an extreme passes a NaN by, for which some targets need less
  RowAccumulator(Combine c, int width, float first, Nan nan = Nan::Kept)
      : combine_(c), nan_(nan), lanes_(width, first), tail_(first) {}
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
        return nan_ == Nan::Lost ? fmax(x, y) : max(x, y);
      case Combine::Min:
        return nan_ == Nan::Lost ? fmin(x, y) : min(x, y);
      default:
        MT_ICE("a row accumulator sums, multiplies, or takes extremes");
    }
  }
  Combine combine_;
  Nan nan_;
  VecVar<f32> lanes_;
  Var<f32> tail_;
};

/// Several passes over one row: a thread keeps its first `held` runs of `width` elements in registers from the first
/// pass on and reads the others again in each. `held` = 0 reads everything again; `streams` = false: a row has no
/// others.
template <class Row>
class RowPasses {
 public:
  RowPasses(const Row& row, const Size& n, int width, int held, bool streams)
      : row_(row),
        n_(n),
        width_(width),
        streams_(streams),
        even_(n.multiple_of(width)),
        kept_(vec_vars<f32>(held, width, 0.f)) {  // Equivalent if zero_is_one: only whole runs are used.
    for (int c = 0; c < held; ++c)
      if_(whole(run(c)), [&] { kept_[static_cast<std::size_t>(c)] = row_.load(run(c), width_); });
  }
  /// body(index, values, kept) for all runs of this thread, of `width` elements or, at a ragged end, of one. Where
  /// `kept`, the values are what the last map() left, else those of the row.
  template <class F>
  void each(F&& body) const {
    for (int c = 0; c < held(); ++c)
      if_(whole(run(c)), [&] { body(run(c), as_value(kept_[static_cast<std::size_t>(c)]), true); });
    stream(body);
  }
  /// The same, and the result of the body takes the place of kept values.
  template <class F>
  void map(F&& body) {
    for (int c = 0; c < held(); ++c) {
      VecVar<f32>& v = kept_[static_cast<std::size_t>(c)];
      if_(whole(run(c)), [&] { v = body(run(c), as_value(v), true); });
    }
    stream(body);
  }

 private:
  int held() const { return static_cast<int>(kept_.size()); }
  /// Where this thread's c-th run starts.
  U32 run(int c) const { return (thread_id() + static_cast<u32>(c * threads())) * static_cast<u32>(width_); }
  // Equivalent if or_equal of le, constant_above of const: where not even, n is no multiple of the width.
  Bool whole(const U32& i) const { return even_ ? i < n_ : i + static_cast<u32>(width_) <= n_; }
  template <class F>
  void stream(F&& body) const {
    const U32 end = even_ || width_ == 1 ? U32(n_) : n_ - n_ % static_cast<u32>(width_);
    if (streams_)
      for_(run(held()), end, static_cast<u32>(threads() * width_),
           [&](U32 i) { body(i, row_.load(i, width_), false); });
    if (even_ || width_ == 1) return;
    const U32 rest = end + thread_id();  // fewer than `width`, so fewer than there are threads
    if_(rest < n_, [&] { body(rest, row_.load(rest, 1), false); });
  }
  Row row_;
  const Size& n_;
  int width_;
  bool streams_, even_;
  std::vector<VecVar<f32>> kept_;
};

/// Threads of a threadgroup that works on one row of n elements.
inline int row_threads(std::int64_t n, TargetTraits traits) { return !traits.gpu ? 32 : n <= 1024 ? 128 : 256; }
inline Launch row_launch(const Problem& p, int threads) {
  require(p["n"] > 0, "a row must have at least one element: n > 0");
  return {.groups = {p["rows"]}, .threads = threads};
}

/// A threadgroup a row, walked by RowPasses; kernels derive from it. On a GPU runs are of 16 bytes, and the whole row
/// stays in registers where some ten vectors of it suffice.
template <class T>
struct RowKernel {
  static constexpr int kHeld = 4;
  Tunable threads{"threads", 256, {32, 64, 128, 256, 512, 1024}};
  Tunable width{"width", 4, {1, 2, 4, 8}};   // elements a thread takes at a time
  Tunable held{"held", 0, {0, 1, 2, 3, 4}};  // of those runs in registers
  bool streams = true;                       // a row has more runs than that

  void plan(const Problem& p, TargetTraits traits) {
    const std::int64_t n = p["n"];
    const int run = traits.gpu ? 16 / size_of(dtype_of<T>) : 4;
    int count = 32;
    while (traits.gpu && count < 1024 && count * run * kHeld < n) count *= 2;
    const std::int64_t runs = ceil_div(n, std::int64_t{count} * run);
    const bool fits = traits.gpu && runs <= kHeld;
    width = run;
    threads = traits.gpu && !fits ? 512 : count;
    held = fits ? static_cast<int>(runs) : 0;
    streams = n > std::int64_t{threads} * width * held;
  }
  Launch launch(const Problem& p) const { return row_launch(p, threads); }
  template <class Row>
  RowPasses<Row> passes(const Row& row, const Size& n) const {
    return {row, n, width, held, streams};
  }
};

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
