// error: is both
#include <metal_stdlib>
using namespace metal;

constant int kCount [[function_constant(0)]];
constant bool kFlag [[function_constant(0)]];

kernel void k(device float* out [[buffer(0)]]) { out[0] = kFlag ? kCount : 0; }
