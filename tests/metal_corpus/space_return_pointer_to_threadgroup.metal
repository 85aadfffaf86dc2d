// error: cannot initialize
#include <metal_stdlib>
using namespace metal;

device float* first(threadgroup float* p) { return p; }

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float s[4];
  out[i] = *first(s);
}
