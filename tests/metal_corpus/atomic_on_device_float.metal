// error: no matching function
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(out, 1.0f, memory_order_relaxed);
}
