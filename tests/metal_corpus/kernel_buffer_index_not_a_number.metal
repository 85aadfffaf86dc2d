// error: needs a number
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(first)]]) {
  out[0] = 1;
}
