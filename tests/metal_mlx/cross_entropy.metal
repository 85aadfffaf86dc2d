#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/cross_entropy.h"

instantiate_kernel("cross_entropy_float32", cross_entropy, float)
instantiate_kernel("cross_entropy_float16", cross_entropy, half)
instantiate_kernel("cross_entropy_bfloat16", cross_entropy, bfloat16_t)
instantiate_kernel("cross_entropy_vjp_float32", cross_entropy_vjp, float)
instantiate_kernel("cross_entropy_vjp_float16", cross_entropy_vjp, half)
instantiate_kernel("cross_entropy_vjp_bfloat16", cross_entropy_vjp, bfloat16_t)
