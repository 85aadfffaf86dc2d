// error: no matching function
#include <metal_stdlib>
using namespace metal;

struct Pair {
  float a, b;
};

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  Pair p = {1, 2};
  out[i] = simd_sum(p).a;
}
