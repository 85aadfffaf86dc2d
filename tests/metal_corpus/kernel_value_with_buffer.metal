// error: needs a pointer
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint n [[buffer(1)]]) {
  out[0] = n;
}
