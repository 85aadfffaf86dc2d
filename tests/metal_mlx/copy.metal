#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/copy.h"

instantiate_kernel("v_copyfloat32float32", copy_v, float, float)
instantiate_kernel("v_copyfloat32float16", copy_v, float, half)
instantiate_kernel("v_copyfloat32bfloat16", copy_v, float, bfloat16_t)
instantiate_kernel("v_copyfloat16float32", copy_v, half, float)
instantiate_kernel("v_copyfloat16float16", copy_v, half, half)
instantiate_kernel("v_copyfloat16bfloat16", copy_v, half, bfloat16_t)
instantiate_kernel("v_copybfloat16float32", copy_v, bfloat16_t, float)
instantiate_kernel("v_copybfloat16float16", copy_v, bfloat16_t, half)
instantiate_kernel("v_copybfloat16bfloat16", copy_v, bfloat16_t, bfloat16_t)
instantiate_kernel("v_copyint32float32", copy_v, int32_t, float)
instantiate_kernel("v_copybool_bfloat16", copy_v, bool, bfloat16_t)
instantiate_kernel("g3_copyfloat32", copy_g_nd3, float, float, int)
instantiate_kernel("gg1_copyfloat16", copy_gg_nd1, half, half)
