// error: cannot initialize
#include <metal_stdlib>
using namespace metal;

kernel void k(constant float* table [[buffer(1)]], device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  device float* p = table;
  p[0] = out[i];
}
