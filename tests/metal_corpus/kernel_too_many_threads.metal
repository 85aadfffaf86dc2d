// error: write 1 to 1024
#include <metal_stdlib>
using namespace metal;

[[kernel, max_total_threads_per_threadgroup(2048)]]
void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = 1;
}
