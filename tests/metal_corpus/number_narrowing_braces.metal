// error: narrow
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float f = out[i];
  int n{f};
  out[i] = float(n);
}
