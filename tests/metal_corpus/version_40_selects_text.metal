// error: undeclared identifier | Metal 4.0
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out [[buffer(0)]]) {
#if __METAL_VERSION__ >= 400
  out[0] = only_in_40;
#else
  out[0] = 1;
#endif
}
