// error: no 'throw'
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  if (i > 4) throw 1;
  out[i] = 1;
}
