// error: not allowed
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup uint* p = reinterpret_cast<threadgroup uint*>(out);
  p[i] = 1;
}
