// error: bfloat
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  half h = half(out[i]);
  bfloat b = h;
  out[i] = float(b);
}
