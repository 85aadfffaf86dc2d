#include <metal_stdlib>
using namespace metal;

// A product is fused into a sum only where the text says fma.
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

namespace mt {
// A polynomial in x * x below 1; above, 1 - exp(-q) with a polynomial q of |x|.
static inline float erf(float x) {
  const float a = fabs(x);
  if (a >= 4.0f) return x > 0.0f ? 1.0f : -1.0f;
  if (a >= 1.0f) {
    float q = fma(a, 2.1697639e-5f, -4.4147292e-4f);
    q = fma(a, q, 4.2052860e-3f);
    q = fma(a, q, -2.5210341e-2f);
    q = fma(a, q, 1.0842210e-1f);
    q = fma(a, q, 6.3321638e-1f);
    q = fma(a, q, 1.1295803f);
    q = fma(a, q, -1.8846779e-4f);
    return copysign(1.0f - precise::exp(-q), x);
  }
  const float s = x * x;
  float p = fma(s, -9.6415160e-6f, 1.1256947e-4f);
  p = fma(s, p, -8.4828289e-4f);
  p = fma(s, p, 5.2209455e-3f);
  p = fma(s, p, -2.6865400e-2f);
  p = fma(s, p, 1.1283782e-1f);
  p = fma(s, p, -3.7612638e-1f);
  return x * fma(s, p, 1.1283792f);
}
static inline float4 erf(float4 x) {
  return float4(erf(x.x), erf(x.y), erf(x.z), erf(x.w));
}
// NaN if either is; +0 > -0.
static inline float max(float x, float y) { return x != x || x > y || (x == y && !signbit(x)) ? x : y; }
static inline float4 max(float4 x, float4 y) {
  return float4(max(x.x, y.x), max(x.y, y.y), max(x.z, y.z), max(x.w, y.w));
}
}  // namespace mt

// activate: 256 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(256)]]
void activate(
    device const half* x [[buffer(0)]],  // [n]
    device half* y [[buffer(1)]],  // [n]
    constant uint& n [[buffer(2)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]]) {
  uint i = (group.x * 256u + thread_index) * 8u;
  if (i < n) {
    float4 v0 = float4(*(device const half4*)(x + i));
    float4 v1 = float4(*(device const half4*)(x + i + 4u));
    float4 v0_1 = mt::max(v0 * float4(0.5f) * (mt::erf(v0 * float4(0.70710677f)) + float4(1.0f)), float4(-INFINITY));
    float4 v1_1 = mt::max(v1 * float4(0.5f) * (mt::erf(v1 * float4(0.70710677f)) + float4(1.0f)), float4(-INFINITY));
    *(device half4*)(y + i) = half4(v0_1);
    *(device half4*)(y + i + 4u) = half4(v1_1);
  }
}
