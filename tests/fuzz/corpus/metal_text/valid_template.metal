// valid
#include <metal_stdlib>
using namespace metal;

template <typename T, int N>
[[kernel]] void scale(device T* x [[buffer(0)]], constant T& by [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  for (int k = 0; k < N; ++k) x[i * N + k] *= by;
}

template [[host_name("scale_float_4")]] [[kernel]] decltype(scale<float, 4>) scale<float, 4>;
template [[host_name("scale_half_2")]] [[kernel]] void scale<half, 2>(device half* x [[buffer(0)]],
                                                                     constant half& by [[buffer(1)]],
                                                                     uint i [[thread_position_in_grid]]);
