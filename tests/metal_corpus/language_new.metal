// error: no 'new'
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  thread float* p = new float[4];
  out[i] = p[0];
}
