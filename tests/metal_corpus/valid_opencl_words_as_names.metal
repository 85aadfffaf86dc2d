// valid
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float local = out[i], global = 2, generic = 3, pipe = 4;
  out[i] = local + global * generic - pipe;
}
