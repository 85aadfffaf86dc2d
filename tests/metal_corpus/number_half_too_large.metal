// warning: too large for type
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  half h = 100000.0h;
  out[i] = h;
}
