// error: at most 0 threads
#include <metal_stdlib>
using namespace metal;

[[max_total_threads_per_threadgroup(0)]] kernel void k(device float* out [[buffer(0)]]) {
  out[0] = 0;
}
