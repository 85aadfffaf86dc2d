// error: no 'double'
#include <metal_stdlib>
using namespace metal;

template <typename T>
kernel void g(device T* out [[buffer(0)]]) {
  out[0] = T(1);
}
template [[host_name("gd")]] kernel void g<double>(device double*);

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = 0;
}
