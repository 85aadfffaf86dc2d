// valid
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float4 a = float4(1, 2, 3, 4), b = float4(a.xy, 5.0f, 6.0f), c = float4(a.x, b.yzw);
  a.wx = b.yz;
  a.xyz += c.zyx * 2;
  half3 h = half3(a.rgb);
  bool4 less = a < b;
  out[i] = dot(a, b) + float(h.y) + (any(less) ? select(a, b, less).w : length(c)) + max(a, 0.5f).x;
}
