// warning: no address space | check plugin
#include <metal_stdlib>
using namespace metal;

void add(float& x) { x += 1; }

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float x = 1;
  add(x);
  out[i] = x;
}
