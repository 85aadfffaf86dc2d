// error: cannot bind
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  packed_float3 p = packed_float3(1.0f);
  thread float3& r = p;
  out[i] = r.x;
}
