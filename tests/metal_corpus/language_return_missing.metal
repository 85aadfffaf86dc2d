// error: does not return a value
#include <metal_stdlib>
using namespace metal;

float pick(float x) {
  if (x > 0) return x;
}

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = pick(out[i]);
}
