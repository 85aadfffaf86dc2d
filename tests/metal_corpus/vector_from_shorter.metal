// error: no viable conversion
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float3 a = float3(1);
  float4 b = a;
  out[i] = b.x;
}
