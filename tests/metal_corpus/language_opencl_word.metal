// error: no word of the Metal
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  __global float* p = out;
  p[i] = 1;
}
