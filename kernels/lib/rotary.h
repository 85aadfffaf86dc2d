// Rotation of pairs: what the rotary embeddings share. Pair p of a head is its elements p and p + head_dim / 2.
#pragma once
#include "mt/dsl/dsl.h"

namespace mt {

/// An angle is a position times a frequency in f32: farther out it would belong to another position.
inline void require_exact_position(std::int64_t last) {
  require(last <= 1 << 24, "positions must not pass 2^24, up to where f32 counts exactly");
}

/// Turns all pairs of the rows `first` … `end` - 1, with one simdgroup. `angle` maps pair numbers (as f32) to angles,
/// which are found once for all rows; `from` and `to` give the row of a number. Where `count` says how many rows there
/// are, all are read before the first is written, so that memory has them under way together.
template <class Angle, class From, class To>
void rotate_(int half, Angle&& angle, const U32& first, const U32& end, From&& from, To&& to, int count = 0) {
  const int width = half % 4 == 0 && half >= 128 ? 4 : half % 2 == 0 && half >= 64 ? 2 : 1, span = kLanes * width;
  const auto turn = [&](const U32& p) {
    const Vec<f32> a = angle(pack(width, [&](int e) { return cast<f32>(p + e); }));
    const Vec<f32> c = cos(a), s = sin(a);
    const auto write = [&](const U32& r, const Vec<f32>& x1, const Vec<f32>& x2) {
      const auto y = to(r);
      y.store(p, x1 * c - x2 * s);
      y.store(p + half, x1 * s + x2 * c);
    };
    if (count == 0)
      return for_(first, end, 1, [&](U32 r) {
        const auto x = from(r);
        write(r, x.load(p, width), x.load(p + half, width));
      });
    const auto rows = each(count, [&](int r) { return first + static_cast<u32>(r); });
    const auto x1 = each(count, [&](int r) { return from(rows[static_cast<std::size_t>(r)]).load(p, width); });
    const auto x2 = each(count, [&](int r) { return from(rows[static_cast<std::size_t>(r)]).load(p + half, width); });
    for (std::size_t r = 0; r < rows.size(); ++r) write(rows[r], x1[r], x2[r]);
  };
  const U32 own = lane_id() * width;
  for (int p = 0; p + span <= half; p += span) turn(own + p);
  if (const int rest = half % span) if_(own < rest, [&] { turn(own + (half - rest)); });
}

}  // namespace mt
