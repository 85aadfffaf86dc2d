// error: invalid operands
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float x = 1.0f;
  x <<= 1;
  out[i] = x;
}
