// error: undeclared identifier
#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_uint* n [[buffer(0)]]) {
  atomic_store_explicit(n, 1u, memory_order_release);
}
