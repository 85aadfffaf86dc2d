#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/mma.h"
#include "mlx/backend/metal/kernels/steel/conv/conv.h"
#include "mlx/backend/metal/kernels/steel/conv/params.h"
#include "mlx/backend/metal/kernels/steel/conv/kernels/steel_conv.h"

instantiate_kernel("conv_2d_float32", implicit_gemm_conv_2d, float, 32, 8, 16, 4, 1, 2, false)
instantiate_kernel("conv_2d_float16", implicit_gemm_conv_2d, half, 32, 8, 16, 4, 1, 2, false)
instantiate_kernel("conv_2d_bfloat16", implicit_gemm_conv_2d, bfloat16_t, 32, 8, 16, 4, 1, 2, false)
