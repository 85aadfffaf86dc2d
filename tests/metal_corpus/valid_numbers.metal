// valid
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  bfloat b = bfloat(out[i]);
  half h = half(b);
  float f = b + 1.0f;
  h += half(2);
  b = bfloat(h);
  long n = long(i) * 3l;
  out[i] = f + float(h) + float(b) + float(n) + 1.5h + float(2.0bf);
  out[i] = as_type<float>(as_type<uint>(out[i]) ^ 1u) + precise::exp(out[i]) + fast::log(out[i]);
}
