// error: not supported
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], texture2d<float> t [[texture(0)]]) {
  out[0] = 1;
}
