#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/dot.h"

instantiate_kernel("dot_float32", dot_product, float, 4, 256, 8)
instantiate_kernel("dot_float16", dot_product, half, 4, 256, 8)
instantiate_kernel("dot_bfloat16", dot_product, bfloat16_t, 4, 256, 8)
