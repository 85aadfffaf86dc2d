// warning: more than 32768 | check plugin
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float s[8193];
  s[i] = out[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = s[0];
}
