// error: invalid operands
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float4 a = float4(1);
  half4 b = half4(1);
  out[i] = (a + b).x;
}
