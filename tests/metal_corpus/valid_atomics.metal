// valid
#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_float* total [[buffer(0)]], device atomic_uint* n [[buffer(1)]], device uint* out [[buffer(2)]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint hits;
  if (t == 0) atomic_store_explicit(&hits, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&hits, 1u, memory_order_relaxed);
  atomic_fetch_add_explicit(total, 0.5f, memory_order_relaxed);
  uint old = 0;
  while (!atomic_compare_exchange_weak_explicit(n, &old, old + 1u, memory_order_relaxed, memory_order_relaxed)) {
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) out[0] = atomic_load_explicit(&hits, memory_order_relaxed);
}
