// error: no member
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup_barrier(mem_flags::mem_shared);
  out[i] = 1;
}
