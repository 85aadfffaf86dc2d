// error: eight
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  static_assert(sizeof(float2) == 4, "float2 has eight bytes");
  out[i] = 1;
}
