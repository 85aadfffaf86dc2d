// error: constant address space | check plugin
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  static int calls = 0;
  calls += 1;
  out[i] = calls;
}
