// error: out of range
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(31)]], uint i [[thread_position_in_grid]]) {
  out[i] = 1;
}
