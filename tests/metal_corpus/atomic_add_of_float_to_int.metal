// warning: changes value
#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_int* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(out, 1.5f, memory_order_relaxed);
}
