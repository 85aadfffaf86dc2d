// error: no matching function
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  simdgroup_half8x8 a = simdgroup_half8x8(1.0h);
  simdgroup_float8x8 d;
  simdgroup_load(d, out);
  simdgroup_multiply_accumulate(a, d, d, 1.0f);
  simdgroup_store(d, out);
}
