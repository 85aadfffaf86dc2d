// error: not declared in a kernel function
#include <metal_stdlib>
using namespace metal;

struct S {
  threadgroup float x;
};

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = 0;
}
