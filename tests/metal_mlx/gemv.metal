#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/utils.h"
#include "mlx/backend/metal/kernels/gemv.h"

instantiate_kernel("gemv_float32_bm4_bn1_sm1_sn32_tm4_tn4_nc0_axpby0", gemv, float, 4, 1, 1, 32, 4, 4, false, false)
instantiate_kernel("gemv_float16_bm4_bn1_sm1_sn32_tm4_tn4_nc0_axpby0", gemv, half, 4, 1, 1, 32, 4, 4, false, false)
instantiate_kernel("gemv_bfloat16_bm4_bn1_sm1_sn32_tm4_tn4_nc0_axpby0", gemv, bfloat16_t, 4, 1, 1, 32, 4, 4, false, false)
instantiate_kernel("gemv_t_float32", gemv_t, float, 1, 2, 8, 4, 4, 4, false, false)
instantiate_kernel("gemv_t_float16", gemv_t, half, 1, 2, 8, 4, 4, 4, false, false)
instantiate_kernel("gemv_t_bfloat16", gemv_t, bfloat16_t, 1, 2, 8, 4, 4, 4, false, false)
