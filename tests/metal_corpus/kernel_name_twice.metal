// error: have the name
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]]) { out[0] = 1; }
[[host_name("k")]] kernel void other(device float* out [[buffer(0)]]) { out[0] = 2; }
