// error: no matching function
#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_float* x [[buffer(0)]]) {
  atomic_fetch_min_explicit(x, 1.0f, memory_order_relaxed);
}
