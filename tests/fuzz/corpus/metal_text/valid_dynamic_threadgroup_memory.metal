// valid
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], threadgroup float* scratch [[threadgroup(0)]], uint t [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  scratch[t] = out[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[t] = scratch[n - 1 - t];
}
