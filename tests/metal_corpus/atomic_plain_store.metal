// error: no viable
#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_uint* n [[buffer(0)]]) {
  *n = 1u;
}
