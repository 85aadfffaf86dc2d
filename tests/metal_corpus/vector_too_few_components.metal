// error: no matching
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float4 a = float4(1.0f, 2.0f, 3.0f);
  out[i] = a.x;
}
