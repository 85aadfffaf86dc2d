// valid
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]], device float* out [[buffer(2)]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[64];
  simdgroup_float8x8 x, y, acc = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  simdgroup_load(x, a, 8);
  simdgroup_load(y, b, 8, ulong2(0, 0), true);
  simdgroup_multiply_accumulate(acc, x, y, acc);
  simdgroup_store(acc, tile, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (uint j = lane; j < 64; j += 32) out[j] = tile[j];
}
