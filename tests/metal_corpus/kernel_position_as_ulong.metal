// error: does not fit attribute
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], ulong i [[thread_position_in_grid]]) {
  out[i] = 0;
}
