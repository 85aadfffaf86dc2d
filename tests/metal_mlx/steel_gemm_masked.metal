#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/gemm.h"
#include "mlx/backend/metal/kernels/steel/gemm/kernels/steel_gemm_masked.h"

instantiate_kernel("masked_float32", block_masked_gemm, float, bool, nomask_t, 32, 32, 16, 2, 2, false, false, true, true)
instantiate_kernel("masked_float16", block_masked_gemm, half, bool, nomask_t, 32, 32, 16, 2, 2, false, false, true, true)
instantiate_kernel("masked_bfloat16", block_masked_gemm, bfloat16_t, bool, nomask_t, 32, 32, 16, 2, 2, false, false, true, true)
