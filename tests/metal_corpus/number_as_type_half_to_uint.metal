// error: the types differ in size
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  half h = 1.0h;
  out[i] = float(as_type<uint>(h));
}
