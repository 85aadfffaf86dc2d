// error: no matching function
#include <metal_stdlib>
using namespace metal;

void add(thread float* p, uint i) { p[i] += 1; }

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  add(out, i);
}
