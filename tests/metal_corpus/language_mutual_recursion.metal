// error: recursive | check plugin
#include <metal_stdlib>
using namespace metal;

bool odd(int n);
bool even(int n) { return n == 0 || odd(n - 1); }
bool odd(int n) { return n != 0 && even(n - 1); }

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = float(even(int(i)));
}
