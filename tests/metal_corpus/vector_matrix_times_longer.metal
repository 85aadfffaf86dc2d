// error: invalid operands
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float3x3 m = float3x3(1.0f);
  float4 v = m * float4(1.0f);
  out[i] = v.x;
}
