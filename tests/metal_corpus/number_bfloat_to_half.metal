// error: bfloat
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  bfloat b = bfloat(out[i]);
  half h = b;
  out[i] = float(h);
}
