// error: does not fit
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint3 lane [[thread_index_in_simdgroup]]) {
  out[0] = lane.x;
}
