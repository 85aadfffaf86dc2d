#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/hadamard.h"

instantiate_kernel("hadamard_n_64_float32", hadamard_n, float, 64, 8, 2)
instantiate_kernel("hadamard_n_64_float16", hadamard_n, half, 64, 8, 2)
instantiate_kernel("hadamard_n_64_bfloat16", hadamard_n, bfloat16_t, 64, 8, 2)
