// error: only 8 x 8
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  simdgroup_matrix<float, 8, 16> m = simdgroup_matrix<float, 8, 16>(1.0f);
  out[i] = m.thread_elements()[0];
}
