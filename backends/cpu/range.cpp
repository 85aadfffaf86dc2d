#include "backends/cpu/range.h"

#include <algorithm>
#include <limits>

namespace mt::cpu {
namespace {
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(),
                       kMost = std::numeric_limits<std::int64_t>::max();
}  // namespace

Range full(DType t) {
  if (is_unsigned(t)) return size_of(t) == 8 ? kUnknown : Range{0, (std::int64_t{1} << 8 * size_of(t)) - 1, true};
  const std::int64_t most = kMost >> (64 - 8 * size_of(t));
  return {-most - 1, most, true};
}

Range fitted(const Range& r, DType t, const Offsets& o) {
  const auto [least, most] = std::minmax_element(o.begin(), o.end());
  std::int64_t low = 0, high = 0;
  if (!r.exact || __builtin_add_overflow(r.low, *least, &low) || __builtin_add_overflow(r.high, *most, &high))
    return kUnknown;
  const Range all = is_unsigned(t) && size_of(t) == 8 ? Range{0, kMost, true} : full(t);
  return low >= all.low && high <= all.high ? r : kUnknown;
}

Range hull(const Range& a, const Range& b) {
  if (!a.exact || !b.exact) return kUnknown;
  return {std::min(a.low, b.low), std::max(a.high, b.high), true};
}

Range combined(Op op, const Range& a, const Range& b) {
  if (!a.exact || !b.exact) return kUnknown;
  Range r{kMost, kLeast, true};
  for (const std::int64_t x : {a.low, a.high})
    for (const std::int64_t y : {b.low, b.high}) {
      std::int64_t z = 0;
      const bool lost = op == Op::Add   ? __builtin_add_overflow(x, y, &z)
                        : op == Op::Sub ? __builtin_sub_overflow(x, y, &z)
                        : op == Op::Mul ? __builtin_mul_overflow(x, y, &z)
                                        : true;
      if (lost) return kUnknown;
      r.low = std::min(r.low, z);
      r.high = std::max(r.high, z);
    }
  return r;
}

}  // namespace mt::cpu
