// Which threads of a threadgroup are active: a bit a lane, a word a simdgroup.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "mt/ir/kernel.h"

namespace mt::interp {

inline constexpr int kMaxSimds = 32;
inline constexpr std::uint32_t kAllLanes = ~0u;

/// Simdgroups outside [lo, hi) are wholly inactive; the hull is empty where nothing is active.
struct Mask {
  std::array<std::uint32_t, kMaxSimds> lanes{};
  int lo = 0, hi = 0;
  bool dense = true;  // every lane of every simdgroup in the hull is active

  static Mask all(int simds) {
    Mask m;
    m.hi = simds;
    for (int s = 0; s < simds; ++s) m.lanes[static_cast<std::size_t>(s)] = kAllLanes;
    return m;
  }
  std::uint32_t at(int simd) const { return lanes[static_cast<std::size_t>(simd)]; }
  bool empty() const { return lo == hi; }
  int threads() const { return (hi - lo) * kLanes; }  // of the hull
  int count() const {
    int n = 0;
    for (int s = lo; s < hi; ++s) n += std::popcount(at(s));
    return n;
  }

  /// The lanes of this mask for which `word(simd)` has a bit.
  template <class F>
  Mask where(F word) const {
    Mask m;
    m.lo = hi;
    for (int s = lo; s < hi; ++s) {
      const std::uint32_t w = at(s) & word(s);
      m.lanes[static_cast<std::size_t>(s)] = w;
      if (w == 0) continue;
      if (m.lo == hi) m.lo = s;
      m.hi = s + 1;
    }
    if (m.hi <= m.lo) m.lo = m.hi = 0;
    for (int s = m.lo; s < m.hi; ++s) m.dense &= m.at(s) == kAllLanes;
    return m;
  }

  /// f(simd, lane) for every active thread, in order.
  template <class F>
  void each(F f) const {
    for (int s = lo; s < hi; ++s)
      for (std::uint32_t w = at(s); w != 0; w &= w - 1) f(s, std::countr_zero(w));
  }
};

}  // namespace mt::interp
