// error: expected
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0) readable]], uint i [[thread_position_in_grid]]) {
  out[0] = i;
}
