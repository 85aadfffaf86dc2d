// error: expected
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]]) {
  if (true) {
  out[0] = 1;
}
