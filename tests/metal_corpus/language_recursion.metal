// error: recursive | check plugin
#include <metal_stdlib>
using namespace metal;

float fold(float x, int n) { return n == 0 ? x : fold(x * 0.5f, n - 1); }

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = fold(out[i], 4);
}
