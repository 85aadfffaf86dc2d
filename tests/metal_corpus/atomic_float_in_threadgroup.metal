// error: no matching function
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup atomic_float s;
  atomic_fetch_add_explicit(&s, out[i], memory_order_relaxed);
  out[i] = 1;
}
