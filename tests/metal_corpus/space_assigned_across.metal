// error: assigning
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float s[32];
  device float* p = out;
  p = s;
  p[i] = 1;
}
