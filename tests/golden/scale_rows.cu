// Compile with -fmad=false: a product is fused into a sum only where the text says fmaf.

struct bfloat {
  unsigned short bits;
  __device__ __forceinline__ explicit operator float() const { return __uint_as_float(unsigned(bits) << 16); }
};
struct alignas(16) f32x4 {
  float s0, s1, s2, s3;
};
struct alignas(8) bf16x4 {
  bfloat s0, s1, s2, s3;
};
typedef unsigned int uint;
typedef unsigned long long u64;

namespace mt {
// Every lane gets the combination over its simdgroup.
static __device__ __forceinline__ float simd_sum(float x) {
  for (int d = 16; d > 0; d /= 2) x = x + __shfl_xor_sync(0xffffffffu, x, d);
  return x;
}
// Rounds to nearest even.
static __device__ __forceinline__ bfloat to_bfloat(float x) {
  bfloat r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return r;
}
}  // namespace mt

// scale_rows: 128 threads a block
extern "C" __global__ void __launch_bounds__(128) scale_rows(
    const bfloat* __restrict__ x,  // [rows, n]
    const float* __restrict__ w,  // [n]
    bfloat* __restrict__ y,  // [rows, n]
    uint n,
    float eps) {
  __shared__ alignas(16) float partial[4];
  const unsigned simd = threadIdx.x >> 5;
  const unsigned lane = threadIdx.x & 31;
  u64 base = u64(blockIdx.x) * u64(n);
  uint first = threadIdx.x * 4u;
  float sum0 = 0.0f;
  float sum1 = 0.0f;
  float sum2 = 0.0f;
  float sum3 = 0.0f;
  for (uint i = first; i < n; i += 512u) {
    bf16x4 x_at = *(const bf16x4*)(x + base + u64(i));
    float v0 = float(x_at.s0);
    float v1 = float(x_at.s1);
    float v2 = float(x_at.s2);
    float v3 = float(x_at.s3);
    sum0 = fmaf(v0, v0, sum0);
    sum1 = fmaf(v1, v1, sum1);
    sum2 = fmaf(v2, v2, sum2);
    sum3 = fmaf(v3, v3, sum3);
  }
  float total = mt::simd_sum(sum0 + sum1 + (sum2 + sum3));
  if (lane == 0u) {
    partial[simd] = total;
  }
  __syncthreads();
  f32x4 partial_at = *(f32x4*)(partial + 0u);
  float scale = rsqrtf((partial_at.s0 + partial_at.s1 + (partial_at.s2 + partial_at.s3)) / float(n) + eps);
  for (uint j = first; j < n; j += 512u) {
    u64 v4 = base + u64(j);
    bf16x4 x_at = *(const bf16x4*)(x + v4);
    f32x4 w_at = *(const f32x4*)(w + j);
    *(bf16x4*)(y + v4) = bf16x4{mt::to_bfloat(float(x_at.s0) * scale * w_at.s0),
        mt::to_bfloat(float(x_at.s1) * scale * w_at.s1),
        mt::to_bfloat(float(x_at.s2) * scale * w_at.s2),
        mt::to_bfloat(float(x_at.s3) * scale * w_at.s3)};
  }
}
