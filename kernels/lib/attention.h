// Softmax-weighted sums over keys that come one after another: what the attention kernels share.
//
// A simdgroup walks keys; its lanes, or each of some equal groups of them, share a row of head_dim elements. Scores are
// in base 2: the query is scaled by scale * log2(e) once, and weights are exp2(score - maximum).
#pragma once
#include <limits>
#include <optional>
#include <vector>

#include "mt/dsl/dsl.h"

namespace mt {

inline constexpr double kLog2E = 1.4426950408889634;

/// One lane's elements of a row, in registers.
using LaneRow = std::vector<Vec<f32>>;

/// How `lanes` neighbouring lanes share a row of `dim` elements, a multiple of 32: `chunks` times `width` consecutive
/// ones a lane, with `width` a power of two up to `widest`. With fewer than 32 lanes a simdgroup has several rows at a
/// time, one in each group of lanes.
struct LaneShare {
  int dim, lanes, width = 1, chunks = 1;
  LaneShare(int elements, int widest, int sharing = kLanes) : dim(elements), lanes(sharing) {
    while (width < widest && dim % (2 * width * lanes) == 0) width *= 2;
    chunks = dim / (width * lanes);
  }
  int groups() const { return kLanes / lanes; }
  /// The group of this lane.
  // Equivalent if swap_operands of div: one lane of each place is still chosen.
  U32 group() const { return groups() == 1 ? U32(0) : lane_id() / static_cast<u32>(lanes); }
  // Equivalent if first_operand of rem, constant_above: the lanes of the first group stand at their own places.
  U32 place() const { return groups() == 1 ? lane_id() : lane_id() % static_cast<u32>(lanes); }

  U32 first(int chunk) const { return place() * width + chunk * lanes * width; }
  template <class Row>
  LaneRow load(const Row& row) const {
    return each(chunks, [&](int c) { return row.load(first(c), width); });
  }
  template <class Row>
  void store(const Row& row, const std::vector<VecVar<f32>>& values) const {
    for (int c : unroll(chunks)) row.store(first(c), values[c]);
  }
  /// Σ a * b over the row; every lane of the group gets it.
  F32 dot(const LaneRow& a, const LaneRow& b) const {
    VecVar<f32> products(a[0] * b[0]);
    for (int c = 1; c < chunks; ++c) products = fma(a[c], b[c], products);
    const F32 own = sum(as_value(products));
    if (groups() == 1) return simd_sum(own);
    Var<f32> all(own);
    // Equivalent if shuffle_off: distances 2, 3, 5, … reach every lane of the group as well.
    for (int d = 1; d < lanes; d *= 2) all += simd_shuffle_xor(all, d);
    return all;
  }
};

/// A softmax-weighted sum of rows under way: the greatest score, the sum of weights relative to it, and the weighted
/// sum of the values. Without any key that is the lowest number, 0 and 0. A key with a score of -inf counts as none.
struct OnlineSoftmax {
  Var<f32> top{std::numeric_limits<float>::lowest()}, total{0.f};
  std::vector<VecVar<f32>> values;

  // Equivalent if zero_is_one: the first key multiplies the sum by 0; without any, the other sum of the quotient is 0.
  explicit OnlineSoftmax(LaneShare share) : values(vec_vars<f32>(share.chunks, share.width, 0.f)) {}

  /// Adds one row of `rows` for each lane of `scores`.
  void add(const Vec<f32>& scores, const std::vector<LaneRow>& rows) {
    raise(max_of(scores));
    // Equivalent if inexact: where all keys come this way, a factor that numerator and denominator share.
    const Vec<f32> weights = exp2(scores - top);
    total += sum(weights);
    for (std::size_t c = 0; c < values.size(); ++c)
      for (std::size_t i = 0; i < rows.size(); ++i)
        values[c] = fma(weights[static_cast<int>(i)], rows[i][c], values[c]);
  }
  /// Brings the walks of a simdgroup's groups of lanes together: afterwards every group has the sum of all.
  void gather(const LaneShare& share) {
    for (int d = share.lanes; d < kLanes; d *= 2) {
      // Equivalent if shuffle_off: all lanes of a group hold the same two.
      const F32 other_top = simd_shuffle_xor(top, d), other_total = simd_shuffle_xor(total, d);
      const LaneRow other = each(share.chunks, [&](int c) {
        return pack(share.width, [&](int e) { return simd_shuffle_xor(as_value(values[c])[e], d); });
      });
      add(other_top, other_total, other);
    }
  }
  /// Adds what another walk has gathered.
  void add(F32 other_top, F32 other_total, const LaneRow& other_values) {
    raise(other_top);
    const F32 weight = exp2(other_top - top);
    total = fma(weight, other_total, total);
    for (std::size_t c = 0; c < values.size(); ++c) values[c] = fma(weight, other_values[c], values[c]);
  }

 private:
  /// Rescales only where the maximum grows: seldom after the first keys, and alike for all lanes. A NaN stays.
  void raise(F32 score) {
    // Equivalent if loses_nan, loses_second_nan: the weight of a NaN is one too.
    const F32 next = max(top, score);
    // Equivalent if always: a factor of 1 changes nothing.
    if_(next != top, [&] {
      const F32 keep = exp2(top - next);  // 0 at the first key
      total *= keep;
      for (auto& v : values) v *= keep;
      top = next;
    });
  }
};

/// Brings the walks of a threadgroup's simdgroups together, one row after another, through threadgroup memory.
class SimdMerge {
 public:
  explicit SimdMerge(LaneShare share) : share_(share) {
    if (simd_count() > 1) parts_.emplace("parts", std::int64_t{share.dim} * simd_count());
  }
  /// Calls emit(top, total, U32 element, values), `values` being the weighted sum from `element` on (one number or a
  /// vector): the threads of the threadgroup together emit the whole row.
  template <class Emit>
  void operator()(const OnlineSoftmax& walk, Emit&& emit) const {
    // Where several groups of lanes hold the same, the first speaks for all.
    const auto once = [&](auto&& body) {
      if (share_.groups() == 1)
        body();
      else
        // Equivalent if constant_above, negated: all groups hold the same.
        if_(share_.group() == 0, body);
    };
    if (!parts_) {
      for (int c : unroll(share_.chunks))
        once([&] { emit(as_value(walk.top), as_value(walk.total), share_.first(c), as_value(walk.values[c])); });
      return;
    }
    const F32 top = group_max(walk.top);
    // Equivalent if inexact: a factor that numerator and denominator share.
    const F32 keep = exp2(walk.top - top);
    // Equivalent if constant_above: every lane has it.
    const F32 total = group_sum(select(lane_id() == 0, walk.total * keep, 0.f));
    for (int c : unroll(share_.chunks))
      once([&] { parts_->store(simd_id() * share_.dim + share_.first(c), walk.values[c] * keep); });
    barrier();
    for_(thread_id(), U32(share_.dim), threads(), [&](U32 d) {
      Var<f32> value(parts_->load(d));
      for (int s = 1; s < simd_count(); ++s) value += parts_->load(d + s * share_.dim);
      emit(top, total, d, as_value(value));
    });  // the next merge's group_max comes after everybody's reads
  }

 private:
  LaneShare share_;
  std::optional<Shared<f32>> parts_;
};

}  // namespace mt
