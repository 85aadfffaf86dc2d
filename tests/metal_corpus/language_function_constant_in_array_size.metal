// error: not a constant expression
#include <metal_stdlib>
using namespace metal;

constant int kCount [[function_constant(0)]];

kernel void k(device float* out [[buffer(0)]]) {
  float x[kCount];
  x[0] = 1;
  out[0] = x[0];
}
