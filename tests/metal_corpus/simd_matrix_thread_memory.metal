// error: no matching function
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float x[64];
  simdgroup_float8x8 m = simdgroup_float8x8(1.0f);
  simdgroup_store(m, x, 8);
  out[i] = x[0];
}
