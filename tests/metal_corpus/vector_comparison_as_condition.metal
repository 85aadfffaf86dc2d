// error: not contextually convertible
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float2 a = float2(out[i]);
  if (a < float2(1)) out[i] = 1;
}
