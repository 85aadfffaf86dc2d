// valid
#include <metal_stdlib>
using namespace metal;

constant bool has_bias [[function_constant(0)]];
constant int mode [[function_constant(1)]];
constant bool both = has_bias && mode == 2;

kernel void k(device float* out [[buffer(0)]], device const float* bias [[buffer(1), function_constant(has_bias)]],
              uint i [[thread_position_in_grid]]) {
  if (has_bias) out[i] += bias[i];
  if (both) out[i] *= 2;
  if (is_function_constant_defined(mode)) out[i] += 1;
}
