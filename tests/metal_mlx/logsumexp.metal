#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/logsumexp.h"

instantiate_kernel("block_logsumexp_float32", logsumexp, float)
instantiate_kernel("block_logsumexp_float16", logsumexp, half)
instantiate_kernel("block_logsumexp_bfloat16", logsumexp, bfloat16_t)
instantiate_kernel("looped_logsumexp_float32", logsumexp_looped, float)
instantiate_kernel("looped_logsumexp_float16", logsumexp_looped, half)
instantiate_kernel("looped_logsumexp_bfloat16", logsumexp_looped, bfloat16_t)
