#include <metal_stdlib>
using namespace metal;

// A product is fused into a sum only where the text says fma.
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

namespace mt {
// NaN if either is; +0 > -0.
static inline float max(float x, float y) { return x != x || x > y || (x == y && !signbit(x)) ? x : y; }
static inline float atomic_max(device atomic_uint* at, float value) {
  uint old = atomic_load_explicit(at, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(at, &old, as_type<uint>(mt::max(as_type<float>(old), value)), memory_order_relaxed, memory_order_relaxed)) {
  }
  return as_type<float>(old);
}
static inline long div(long x, long y) { return y == 0l ? 0l : y == -1 ? long(0ul - ulong(x)) : x / y; }
// 64 bits go through a shuffle as two halves.
static inline long shuffle(long x, ushort by) { return as_type<long>(simd_shuffle(as_type<uint2>(x), by)); }
static inline long shuffle_xor(long x, ushort by) { return as_type<long>(simd_shuffle_xor(as_type<uint2>(x), by)); }
static inline long shuffle_up(long x, ushort by) { return as_type<long>(simd_shuffle_up(as_type<uint2>(x), by)); }
static inline long shuffle_down(long x, ushort by) { return as_type<long>(simd_shuffle_down(as_type<uint2>(x), by)); }
// The combination over lanes 0 to lane - 1.
static inline long simd_exclusive_sum(long x, unsigned lane) {
  for (int d = 1; d < 32; d *= 2) {
    const long before = mt::shuffle_up(x, ushort(d));
    if (lane >= unsigned(d)) x = long(ulong(before) + ulong(x));
  }
  const long before = mt::shuffle_up(x, ushort(1));
  return lane == 0 ? 0l : before;
}
// Every lane gets the combination over its simdgroup.
static inline float simd_max(float x) {
  for (int d = 16; d > 0; d /= 2) x = mt::max(x, simd_shuffle_xor(x, ushort(d)));
  return x;
}
}  // namespace mt

// histogram: 64 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(64)]]
void histogram(
    device const uchar* keys [[buffer(0)]],  // [n]
    device uint* counts [[buffer(1)]],  // [256]
    device float* largest [[buffer(2)]],  // [1]
    device long* before [[buffer(3)]],  // [n]
    constant uint& n [[buffer(4)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  uint i = group.x * 64u + thread_index;
  bool v0 = i < n;
  uint key = 0u;
  if (v0) {
    uint v1 = uint(keys[i]);
    atomic_fetch_add_explicit((device atomic_uint*)&counts[v1], 1u, memory_order_relaxed);
    key = v1;
  }
  long v2 = long(key);
  long prefix = mt::simd_exclusive_sum(v2, lane);
  float all_max = mt::simd_max(float(key));
  mt::atomic_max((device atomic_uint*)&largest[0u], all_max);
  if (v0) {
    before[i] = mt::div(long(ulong(prefix) * 0xfffffffffffffff9ul), v2);
  }
}
