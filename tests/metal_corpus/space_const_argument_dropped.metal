// error: no matching function
#include <metal_stdlib>
using namespace metal;

void add(device float* p) { p[0] += 1; }

kernel void k(device const float* in [[buffer(1)]], device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  add(in);
  out[i] = in[i];
}
