// error: value without an attribute
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint n) {
  out[0] = n;
}
