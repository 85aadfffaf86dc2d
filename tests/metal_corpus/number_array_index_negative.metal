// error: before the beginning
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float t[4];
  t[-1] = 1;
  out[i] = t[0];
}
