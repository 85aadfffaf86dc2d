#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/softmax.h"

instantiate_kernel("block_softmax_float32", softmax_single_row, float)
instantiate_kernel("block_softmax_float16", softmax_single_row, half)
instantiate_kernel("block_softmax_bfloat16", softmax_single_row, bfloat16_t)
instantiate_kernel("looped_softmax_float32", softmax_looped, float)
instantiate_kernel("looped_softmax_float16", softmax_looped, half)
instantiate_kernel("looped_softmax_bfloat16", softmax_looped, bfloat16_t)
instantiate_kernel("block_softmax_precise_float16", softmax_single_row, half, float)
instantiate_kernel("block_softmax_precise_bfloat16", softmax_single_row, bfloat16_t, float)
