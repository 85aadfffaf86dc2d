#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/arange.h"

instantiate_kernel("arange_float32", arange, float)
instantiate_kernel("arange_float16", arange, half)
instantiate_kernel("arange_bfloat16", arange, bfloat16_t)
instantiate_kernel("arange_int32", arange, int32_t)
instantiate_kernel("arange_uint8", arange, uint8_t)
instantiate_kernel("arange_int64", arange, int64_t)
