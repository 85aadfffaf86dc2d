#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/gemm.h"
#include "mlx/backend/metal/kernels/steel/gemm/kernels/steel_gemm_splitk.h"

instantiate_kernel("splitk_float32", gemm_splitk, float, float, 16, 16, 16, 2, 2, false, false, true, true)
instantiate_kernel("splitk_float16", gemm_splitk, half, float, 16, 16, 16, 2, 2, false, false, true, true)
instantiate_kernel("splitk_bfloat16", gemm_splitk, bfloat16_t, float, 16, 16, 16, 2, 2, false, false, true, true)
instantiate_kernel("splitk_accum_float32", gemm_splitk_accum, float, float)
instantiate_kernel("splitk_accum_float16", gemm_splitk_accum, float, half)
instantiate_kernel("splitk_accum_bfloat16", gemm_splitk_accum, float, bfloat16_t)
instantiate_kernel("splitk_accum_axpby_float32", gemm_splitk_accum_axpby, float, float)
instantiate_kernel("splitk_accum_axpby_float16", gemm_splitk_accum_axpby, float, half)
instantiate_kernel("splitk_accum_axpby_bfloat16", gemm_splitk_accum_axpby, float, bfloat16_t)
