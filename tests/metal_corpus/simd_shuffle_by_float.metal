// warning: changes value
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = simd_shuffle(1.0f, 2.5f);
}
