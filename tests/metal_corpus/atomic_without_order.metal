// error: no matching function
#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_uint* n [[buffer(0)]]) {
  atomic_fetch_add_explicit(n, 1u);
}
