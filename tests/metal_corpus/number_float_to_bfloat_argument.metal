// error: no implicit conversion from 'float' to 'bfloat' | check plugin
#include <metal_stdlib>
using namespace metal;

float wide(bfloat x) { return float(x); }

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = wide(out[i]);
}
