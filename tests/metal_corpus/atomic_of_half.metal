// error: int, uint, bool, ulong or float
#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic<half>* n [[buffer(0)]], device half* out [[buffer(1)]]) {
  out[0] = half(1);
  atomic_store_explicit(n, half(1), memory_order_relaxed);
}
