#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/gemm.h"
#include "mlx/backend/metal/kernels/steel/gemm/kernels/steel_gemm_fused.h"

instantiate_kernel("steel_gemm_fused_nn_float32_float32_bm32_bn32_bk16_wm2_wn2", gemm, float, 32, 32, 16, 2, 2, false, false)
instantiate_kernel("steel_gemm_fused_nt_float32_float32_bm32_bn32_bk16_wm2_wn2", gemm, float, 32, 32, 16, 2, 2, false, true)
instantiate_kernel("steel_gemm_fused_tn_float32_float32_bm32_bn32_bk16_wm2_wn2", gemm, float, 32, 32, 16, 2, 2, true, false)
instantiate_kernel("steel_gemm_fused_tt_float32_float32_bm32_bn32_bk16_wm2_wn2", gemm, float, 32, 32, 16, 2, 2, true, true)
instantiate_kernel("steel_gemm_fused_nn_float16_float16_bm32_bn32_bk16_wm2_wn2", gemm, half, 32, 32, 16, 2, 2, false, false)
instantiate_kernel("steel_gemm_fused_nt_float16_float16_bm32_bn32_bk16_wm2_wn2", gemm, half, 32, 32, 16, 2, 2, false, true)
instantiate_kernel("steel_gemm_fused_tn_float16_float16_bm32_bn32_bk16_wm2_wn2", gemm, half, 32, 32, 16, 2, 2, true, false)
instantiate_kernel("steel_gemm_fused_tt_float16_float16_bm32_bn32_bk16_wm2_wn2", gemm, half, 32, 32, 16, 2, 2, true, true)
instantiate_kernel("steel_gemm_fused_nn_bfloat16_bfloat16_bm32_bn32_bk16_wm2_wn2", gemm, bfloat16_t, 32, 32, 16, 2, 2, false, false)
instantiate_kernel("steel_gemm_fused_nt_bfloat16_bfloat16_bm32_bn32_bk16_wm2_wn2", gemm, bfloat16_t, 32, 32, 16, 2, 2, false, true)
instantiate_kernel("steel_gemm_fused_tn_bfloat16_bfloat16_bm32_bn32_bk16_wm2_wn2", gemm, bfloat16_t, 32, 32, 16, 2, 2, true, false)
instantiate_kernel("steel_gemm_fused_tt_bfloat16_bfloat16_bm32_bn32_bk16_wm2_wn2", gemm, bfloat16_t, 32, 32, 16, 2, 2, true, true)
