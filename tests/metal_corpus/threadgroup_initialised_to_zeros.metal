// warning: is not sure to be initialised
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup float s[32] = {0};
  s[i] = 1;
  out[i] = s[i];
}
