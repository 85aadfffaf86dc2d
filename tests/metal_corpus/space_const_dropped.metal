// error: cannot initialize
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float* in [[buffer(1)]], device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  device float* p = in;
  out[i] = p[i];
}
