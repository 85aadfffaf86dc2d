// error: invalid operands
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  int2 a = int2(1);
  uint2 b = uint2(1);
  out[i] = float((a + b).x);
}
