#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/sdpa_blocked.h"

instantiate_kernel("scale_copy_float32", sdpa_blocked_scale_copy, float)
instantiate_kernel("scale_copy_float16", sdpa_blocked_scale_copy, half)
instantiate_kernel("scale_copy_bfloat16", sdpa_blocked_scale_copy, bfloat16_t)
instantiate_kernel("causal_mask_float32", sdpa_blocked_causal_mask, float)
instantiate_kernel("causal_mask_float16", sdpa_blocked_causal_mask, half)
instantiate_kernel("causal_mask_bfloat16", sdpa_blocked_causal_mask, bfloat16_t)
