// error: no such component
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float2 a = float2(1);
  float2 b = a.xz;
  out[i] = b.x;
}
