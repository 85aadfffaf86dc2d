// error: not in the threadgroup address space
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[threadgroup(0)]]) {
  out[0] = 1;
}
