#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/gated_delta_update.h"

instantiate_kernel("gated_delta_seq_float32", gated_delta_seq, float, 128, 128, 16, 16, 0)
instantiate_kernel("gated_delta_seq_float16", gated_delta_seq, half, 128, 128, 16, 16, 0)
instantiate_kernel("gated_delta_seq_bfloat16", gated_delta_seq, bfloat16_t, 128, 128, 16, 16, 0)
