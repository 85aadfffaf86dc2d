// error: incompatible type
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], device atomic_float* a [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = *a;
}
