#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/attn/attn.h"
#include "mlx/backend/metal/kernels/steel/attn/kernels/steel_attention.h"

instantiate_kernel("steel_attention_float32_bq32_bk32_bd64", attention, float, 32, 32, 64, 64, 4, 1, bool, float)
instantiate_kernel("steel_attention_float32_bq32_bk32_bd128", attention, float, 32, 16, 128, 128, 4, 1, bool, float)
instantiate_kernel("steel_attention_float16_bq32_bk32_bd64", attention, half, 32, 32, 64, 64, 4, 1, bool, float)
instantiate_kernel("steel_attention_float16_bq32_bk32_bd128", attention, half, 32, 16, 128, 128, 4, 1, bool, float)
instantiate_kernel("steel_attention_bfloat16_bq32_bk32_bd64", attention, bfloat16_t, 32, 32, 64, 64, 4, 1, bool, float)
instantiate_kernel("steel_attention_bfloat16_bq32_bk32_bd128", attention, bfloat16_t, 32, 16, 128, 128, 4, 1, bool, float)
