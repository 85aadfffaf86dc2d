// error: no implicit conversion from 'float' to 'bfloat' | check plugin
#include <metal_stdlib>
using namespace metal;

bfloat narrow(float x) { return x; }

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = float(narrow(out[i]));
}
