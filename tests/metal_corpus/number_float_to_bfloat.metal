// error: no implicit conversion from 'float' to 'bfloat' | check plugin
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  bfloat b = out[i];
  out[i] = float(b);
}
