// error: read-only
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], constant float* scale [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  *scale = 2;
  out[i] = *scale;
}
