// error: without an address space
#include <metal_stdlib>
using namespace metal;

kernel void k(float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = 1;
}
