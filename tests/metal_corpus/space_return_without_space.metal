// error: no conversion from the threadgroup | check plugin
#include <metal_stdlib>
using namespace metal;

static float* first(threadgroup float* t) { return t; }

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float t[4];
  float* p = first(t);
  out[i] = *p;
}
