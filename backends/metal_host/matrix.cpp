#include "backends/metal_host/matrix.h"

#include <cmath>
#include <cstring>

#include "backends/metal_host/abi.h"

namespace mt::metal_host {
namespace {

/// What a lane hands in: two neighbours of a row of each factor.
struct Factors {
  float a[2], b[2];
};

// The elements of a lane, as the shim's msl_row and msl_column say: bits 0 and 3 of the lane choose the pair of
// columns, bits 1, 2 and 4 the row.
constexpr unsigned row_of(unsigned lane) { return ((lane >> 1) & 3u) | ((lane >> 2) & 4u); }
constexpr unsigned column_of(unsigned lane) { return ((lane & 1u) << 1) | ((lane >> 1) & 4u); }
constexpr unsigned holder(unsigned row, unsigned column) {
  return ((column >> 1) & 1u) | ((row & 3u) << 1) | ((column & 4u) << 1) | ((row & 4u) << 2);
}

inline __attribute__((always_inline)) Factors factors(const std::byte* slots, unsigned lane) {
  Factors f;
  std::memcpy(&f, slots + lane * MSL_SLOT_BYTES, sizeof f);
  return f;
}

inline __attribute__((always_inline)) void accumulate(const std::byte* slots, unsigned lane, float* sum) {
  const unsigned row = row_of(lane), column = column_of(lane);
  float x = sum[0], y = sum[1];
  for (unsigned k = 0; k < 8; ++k) {
    const float left = factors(slots, holder(row, k)).a[k & 1];
    const Factors right = factors(slots, holder(k, column));
    x = __builtin_fmaf(left, right.b[0], x);
    y = __builtin_fmaf(left, right.b[1], y);
  }
  sum[0] = x;
  sum[1] = y;
}

#if defined(__x86_64__)
// One instruction a step where the processor has it; the function of libm gives the same bits.
__attribute__((target("fma"))) void accumulate_fma(const std::byte* slots, unsigned lane, float* sum) {
  accumulate(slots, lane, sum);
}
#endif

}  // namespace

void add_product(const std::byte* slots, unsigned lane, float* sum) {
#if defined(__x86_64__)
  static const bool fma = __builtin_cpu_supports("fma") != 0;
  if (fma) return accumulate_fma(slots, lane, sum);
#endif
  accumulate(slots, lane, sum);
}

}  // namespace mt::metal_host
