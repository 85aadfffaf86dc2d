// error: no implicit conversion from 'float' to 'bfloat' | check plugin
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], device bfloat* b [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  b[i] = out[i] * 2.0f;
}
