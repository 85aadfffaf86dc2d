// error: constant address space | check plugin
#include <metal_stdlib>
using namespace metal;

float shared_total = 0;

kernel void k(device float* out [[buffer(0)]]) { out[0] = shared_total; }
