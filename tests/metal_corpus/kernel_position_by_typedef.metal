// error: does not fit
#include <metal_stdlib>
using namespace metal;

typedef int Index;

kernel void k(device float* out [[buffer(0)]], Index i [[thread_position_in_grid]]) {
  out[0] = float(i);
}
