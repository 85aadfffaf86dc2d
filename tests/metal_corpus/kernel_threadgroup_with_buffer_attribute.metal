// error: threadgroup memory
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], threadgroup float* s [[buffer(1)]]) {
  out[0] = s[0];
}
