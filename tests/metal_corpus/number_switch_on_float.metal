// error: expression of integer type
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  switch (out[i]) {
    case 1: out[i] = 2; break;
  }
}
