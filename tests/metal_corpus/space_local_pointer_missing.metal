// warning: no address space | check plugin
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float x[2] = {1, 2};
  float* p = x;
  out[i] = p[1];
}
