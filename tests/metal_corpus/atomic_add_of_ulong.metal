// error: no matching function
#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_ulong* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(out, 1ul, memory_order_relaxed);
}
