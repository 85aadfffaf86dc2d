// error: not declared in a kernel
#include <metal_stdlib>
using namespace metal;

threadgroup float s[32];

kernel void k(device float* out [[buffer(0)]]) { out[0] = s[0]; }
