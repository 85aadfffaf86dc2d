// error: initial
#include <metal_stdlib>
using namespace metal;

constant float kScale;

kernel void k(device float* out [[buffer(0)]]) { out[0] = kScale; }
