// error: no definition
#include <metal_stdlib>
using namespace metal;

template [[host_name("k_float")]] [[kernel]] void k<float>(device float* out [[buffer(0)]]);
