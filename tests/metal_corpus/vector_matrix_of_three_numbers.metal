// error: no matching constructor
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float2x2 m = float2x2(1.0f, 2.0f, 3.0f);
  out[i] = m[0][0];
}
