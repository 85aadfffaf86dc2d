// error: thread address space
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], thread float* x [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = *x;
}
