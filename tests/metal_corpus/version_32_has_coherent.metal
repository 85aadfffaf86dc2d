// valid | Metal 3.2
#include <metal_stdlib>
using namespace metal;

kernel void k(coherent(device) device float* out [[buffer(0)]]) {
  out[0] = 1;
}
