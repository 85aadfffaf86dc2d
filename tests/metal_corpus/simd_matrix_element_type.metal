// error: no matching function
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], device const half* h [[buffer(1)]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, h, 8);
  simdgroup_store(m, out, 8);
}
