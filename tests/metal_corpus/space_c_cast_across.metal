// error: mismatching address spaces
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float* p = (threadgroup float*)out;
  p[i] = 1;
}
