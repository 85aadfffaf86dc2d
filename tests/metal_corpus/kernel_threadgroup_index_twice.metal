// error: used twice
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], threadgroup float* a [[threadgroup(0)]], threadgroup float* b [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {
  a[i] = 1;
  out[i] = b[i];
}
