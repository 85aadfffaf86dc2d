// warning: changes value
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  int x = 4294967296;
  out[i] = x;
}
