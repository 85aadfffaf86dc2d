// error: constant address space | check plugin
#include <metal_stdlib>
using namespace metal;

const float kScale = 2;

kernel void k(device float* out [[buffer(0)]]) { out[0] = kScale; }
