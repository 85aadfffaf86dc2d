// Compile with -fmad=false: a product is fused into a sum only where the text says fmaf.

typedef unsigned int uint;
typedef long long i64;
typedef unsigned long long u64;
typedef unsigned char u8;

namespace mt {
// NaN if either is; -0 < +0.
static __device__ __forceinline__ float max(float x, float y) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return r;
}
static __device__ float atomic_max(float* at, float value) {
  uint* word = (uint*)at;
  uint old = *(volatile uint*)word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, __float_as_uint(mt::max(__uint_as_float(seen), value)));
  } while (old != seen);
  return __uint_as_float(old);
}
static __device__ __forceinline__ i64 div(i64 x, i64 y) { return y == 0ll ? 0ll : y == -1 ? i64(0ull - u64(x)) : x / y; }
// The combination over lanes 0 to lane - 1.
static __device__ __forceinline__ i64 simd_exclusive_sum(i64 x, unsigned lane) {
  for (int d = 1; d < 32; d *= 2) {
    const i64 before = __shfl_up_sync(0xffffffffu, x, d);
    if (lane >= unsigned(d)) x = i64(u64(before) + u64(x));
  }
  const i64 before = __shfl_up_sync(0xffffffffu, x, 1);
  return lane == 0 ? 0ll : before;
}
// Every lane gets the combination over its simdgroup.
static __device__ __forceinline__ float simd_max(float x) {
  for (int d = 16; d > 0; d /= 2) x = mt::max(x, __shfl_xor_sync(0xffffffffu, x, d));
  return x;
}
}  // namespace mt

// histogram: 64 threads a block
extern "C" __global__ void __launch_bounds__(64) histogram(
    const u8* __restrict__ keys,  // [n]
    uint* __restrict__ counts,  // [256]
    float* __restrict__ largest,  // [1]
    i64* __restrict__ before,  // [n]
    uint n) {
  const unsigned lane = threadIdx.x & 31;
  uint i = blockIdx.x * 64u + threadIdx.x;
  bool v0 = i < n;
  uint key = 0u;
  if (v0) {
    uint v1 = uint(keys[i]);
    atomicAdd(&counts[v1], 1u);
    key = v1;
  }
  i64 v2 = i64(key);
  i64 prefix = mt::simd_exclusive_sum(v2, lane);
  float all_max = mt::simd_max(float(key));
  mt::atomic_max(&largest[0u], all_max);
  if (v0) {
    before[i] = mt::div(i64(u64(prefix) * 0xfffffffffffffff9ull), v2);
  }
}
