// error: no matching function
#include <metal_stdlib>
using namespace metal;

constant int kCount [[function_constant(0)]];

template <int N>
float times(float x) { return x * N; }

kernel void k(device float* out [[buffer(0)]]) { out[0] = times<kCount>(out[0]); }
