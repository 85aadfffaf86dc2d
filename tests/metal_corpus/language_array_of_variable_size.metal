// error: not a constant expression
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  uint n = i + 1;
  float a[n];
  a[0] = 1;
  out[i] = a[0];
}
