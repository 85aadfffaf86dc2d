// error: thread address space | check plugin
#include <metal_stdlib>
using namespace metal;

void add(float* p, uint i) { p[i] += 1; }

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  add(out, i);
}
