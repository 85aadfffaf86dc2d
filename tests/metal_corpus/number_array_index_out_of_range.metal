// error: past the end
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float x[4] = {1, 2, 3, 4};
  out[i] = x[4];
}
