#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/utils.h"
#include "mlx/backend/metal/kernels/gemv_masked.h"

instantiate_kernel("gemv_masked_float32", gemv_masked, float, bool, nomask_t, 4, 1, 1, 32, 4, 4, false)
instantiate_kernel("gemv_masked_float16", gemv_masked, half, bool, nomask_t, 4, 1, 1, 32, 4, 4, false)
instantiate_kernel("gemv_masked_bfloat16", gemv_masked, bfloat16_t, bool, nomask_t, 4, 1, 1, 32, 4, 4, false)
