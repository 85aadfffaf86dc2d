// error: file not found
#include <metal_stdlib>
#include "no_such_header.h"
using namespace metal;

kernel void k(device float* out [[buffer(0)]]) { out[0] = 1; }
