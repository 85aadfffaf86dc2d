// error: no matching function
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float* in [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  simdgroup_float8x8 a(1.0f);
  simdgroup_store(a, in);
}
