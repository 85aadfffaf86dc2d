// error: both
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]] [[thread_index_in_threadgroup]]) {
  out[0] = i;
}
