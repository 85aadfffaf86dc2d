// error: thread address space | check plugin
#include <metal_stdlib>
using namespace metal;

void add(float& x) { x += 1; }

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float s[4];
  add(s[i & 3]);
  out[i] = s[0];
}
