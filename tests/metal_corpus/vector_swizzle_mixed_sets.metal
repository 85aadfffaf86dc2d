// error: no member
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float4 a = float4(1);
  float2 b = a.xg;
  out[i] = b.x;
}
