#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/gated_delta_update_vjp.h"

instantiate_kernel("gated_delta_vjp_seq_float32", gated_delta_vjp_seq, float, 128, 128, 16, 16, 16)
instantiate_kernel("gated_delta_vjp_seq_float16", gated_delta_vjp_seq, half, 128, 128, 16, 16, 16)
instantiate_kernel("gated_delta_vjp_seq_bfloat16", gated_delta_vjp_seq, bfloat16_t, 128, 128, 16, 16, 16)
