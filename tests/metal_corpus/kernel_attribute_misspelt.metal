// error: unknown attribute 'thread_position_in_gird'
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_gird]]) {
  out[i] = 1;
}
