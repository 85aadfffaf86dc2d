// error: cannot be called
#include <metal_stdlib>
using namespace metal;

kernel void g(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = 1;
}

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  g(out, i);
}
