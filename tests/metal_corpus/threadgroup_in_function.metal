// error: not declared in a kernel
#include <metal_stdlib>
using namespace metal;

float sum(float x) {
  threadgroup float s[32];
  s[0] = x;
  return s[0];
}

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = sum(out[i]);
}
