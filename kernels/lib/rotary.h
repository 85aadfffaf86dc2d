// Rotation of pairs: what the rotary embeddings share. Pair p of a head is its elements p and p + head_dim / 2.
#pragma once
#include "mt/dsl/dsl.h"

namespace mt {

/// An angle is a position times a frequency in f32: farther out it would belong to another position.
inline void require_exact_position(std::int64_t last) {
  require(last <= 1 << 24, "positions must not pass 2^24, up to where f32 counts exactly");
}

/// Turns all pairs of the rows `first` … `end` - 1, with one simdgroup. `angle` maps pair numbers (as f32) to angles,
/// which are found once for all rows; `from` and `to` give the row of a number.
template <class Angle, class From, class To>
void rotate_(int half, Angle&& angle, const U32& first, const U32& end, From&& from, To&& to) {
  const int width = half % 4 == 0 && half >= 128 ? 4 : half % 2 == 0 && half >= 64 ? 2 : 1, span = kLanes * width;
  const auto turn = [&](const U32& p) {
    const Vec<f32> a = angle(pack(width, [&](int e) { return cast<f32>(p + e); }));
    const Vec<f32> c = cos(a), s = sin(a);
    for_(first, end, 1, [&](U32 r) {
      const auto x = from(r);
      const auto y = to(r);
      const Vec<f32> x1 = x.load(p, width), x2 = x.load(p + half, width);
      y.store(p, x1 * c - x2 * s);
      y.store(p + half, x1 * s + x2 * c);
    });
  };
  const U32 own = lane_id() * width;
  for (int p = 0; p + span <= half; p += span) turn(own + p);
  if (const int rest = half % span) if_(own < rest, [&] { turn(own + (half - rest)); });
}

}  // namespace mt
