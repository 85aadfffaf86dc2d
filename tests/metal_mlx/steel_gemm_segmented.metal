#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/gemm.h"
#include "mlx/backend/metal/kernels/steel/gemm/kernels/steel_gemm_segmented.h"

instantiate_kernel("segmented_float32", segmented_mm, float, 32, 32, 16, 2, 2, false, false)
instantiate_kernel("segmented_float16", segmented_mm, half, 32, 32, 16, 2, 2, false, false)
instantiate_kernel("segmented_bfloat16", segmented_mm, bfloat16_t, 32, 32, 16, 2, 2, false, false)
