// error: not contextually convertible
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  bool2 b = bool2(true, false);
  float2 f = b ? float2(1.0f) : float2(2.0f);
  out[i] = f.x;
}
