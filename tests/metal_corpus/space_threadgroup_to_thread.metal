// error: cannot initialize
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float s[32];
  thread float* p = s;
  out[i] = p[0];
}
