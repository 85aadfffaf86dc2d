// error: no matching function
#include <metal_stdlib>
using namespace metal;

kernel void k(device uint* n [[buffer(0)]]) {
  atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);
}
