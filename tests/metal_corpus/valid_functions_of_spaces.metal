// valid
#include <metal_stdlib>
using namespace metal;

float total(const device float* p) { return p[0] + p[1]; }
float total(const threadgroup float* p) { return p[0] + p[1]; }
float total(constant float* p) { return p[0] + p[1]; }
float total(const thread float* p) { return p[0] + p[1]; }

kernel void k(device float* out [[buffer(0)]], constant float* table [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  threadgroup float s[64];
  s[i & 63] = 1;
  float x[2] = {1, 2};
  out[i] = total(out) + total(s) + total(table) + total(x);
}
