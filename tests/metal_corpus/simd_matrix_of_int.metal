// error: float, half or bfloat
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  simdgroup_matrix<int, 8, 8> m = simdgroup_matrix<int, 8, 8>(1);
  out[i] = float(m.thread_elements()[0]);
}
