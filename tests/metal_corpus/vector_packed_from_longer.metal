// error: no viable conversion
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  packed_float3 p = float4(1.0f);
  out[i] = p[0];
}
