// error: 'half' | check plugin
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  bfloat b = bfloat(out[i]);
  half h = half(out[i]);
  out[i] = float(b + h);
}
