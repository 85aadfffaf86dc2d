#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/sort.h"
#include "mlx/backend/metal/kernels/searchsorted.h"

instantiate_kernel("searchsorted_float32", searchsorted, float, false)
instantiate_kernel("searchsorted_float16", searchsorted, half, false)
instantiate_kernel("searchsorted_bfloat16", searchsorted, bfloat16_t, false)
