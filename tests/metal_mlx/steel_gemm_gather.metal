#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/gemm.h"
#include "mlx/backend/metal/kernels/steel/gemm/kernels/steel_gemm_gather.h"

instantiate_kernel("gather_float32", gather_mm, float, 32, 32, 16, 2, 2, false, true)
instantiate_kernel("gather_float16", gather_mm, half, 32, 32, 16, 2, 2, false, true)
instantiate_kernel("gather_bfloat16", gather_mm, bfloat16_t, 32, 32, 16, 2, 2, false, true)
instantiate_kernel("gather_rhs_float32", gather_mm_rhs, float, 16, 64, 16, 1, 2, false, true)
instantiate_kernel("gather_rhs_float16", gather_mm_rhs, half, 16, 64, 16, 1, 2, false, true)
instantiate_kernel("gather_rhs_bfloat16", gather_mm_rhs, bfloat16_t, 16, 64, 16, 1, 2, false, true)
