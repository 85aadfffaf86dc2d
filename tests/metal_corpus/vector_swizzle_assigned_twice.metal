// error: assigned twice
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float4 a = float4(1);
  a.xx = float2(1, 2);
  out[i] = a.x;
}
