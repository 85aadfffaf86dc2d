// error: no matching function
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  simdgroup_half8x8 a;
  simdgroup_load(a, out);
  simdgroup_store(a, (device half*)out);
}
