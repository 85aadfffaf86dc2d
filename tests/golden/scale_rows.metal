#include <metal_stdlib>
using namespace metal;

// A product is fused into a sum only where the text says fma.
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

// scale_rows: 128 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(128)]]
void scale_rows(
    device const bfloat* x [[buffer(0)]],  // [rows, n]
    device const float* w [[buffer(1)]],  // [n]
    device bfloat* y [[buffer(2)]],  // [rows, n]
    constant uint& n [[buffer(3)]],
    constant float& eps [[buffer(4)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simd [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup alignas(16) float partial[4];
  ulong base = ulong(group.x) * ulong(n);
  uint first = thread_index * 4u;
  float4 sum = float4(0.0f);
  for (uint i = first; i < n; i += 512u) {
    float4 v0 = float4(*(device const bfloat4*)(x + base + ulong(i)));
    sum = fma(v0, v0, sum);
  }
  float total = simd_sum(sum.x + sum.y + (sum.z + sum.w));
  if (lane == 0u) {
    partial[simd] = total;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float4 partial_at = *(threadgroup float4*)(partial + 0u);
  float scale = precise::rsqrt((partial_at.x + partial_at.y + (partial_at.z + partial_at.w)) / float(n) + eps);
  float4 v1 = float4(scale);
  for (uint j = first; j < n; j += 512u) {
    ulong v2 = base + ulong(j);
    *(device bfloat4*)(y + v2) = bfloat4(float4(*(device const bfloat4*)(x + v2)) * v1 * *(device const float4*)(w + j));
  }
}
