// valid
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], device const float4* in [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  float4 a = float4(out[i]), b = float4(2);
  float4 c = i > 2 ? in[i] : a;
  float4 d = i > 3 ? c : float4(1) + b;
  out[i] = (i & 1 ? c : d).x;
}
