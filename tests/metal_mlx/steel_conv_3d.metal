#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/mma.h"
#include "mlx/backend/metal/kernels/steel/conv/conv.h"
#include "mlx/backend/metal/kernels/steel/conv/params.h"
#include "mlx/backend/metal/kernels/steel/conv/kernels/steel_conv_3d.h"

instantiate_kernel("conv_3d_float32", implicit_gemm_conv_3d, float, 32, 8, 16, 4, 1, false)
instantiate_kernel("conv_3d_float16", implicit_gemm_conv_3d, half, 32, 8, 16, 4, 1, false)
instantiate_kernel("conv_3d_bfloat16", implicit_gemm_conv_3d, bfloat16_t, 32, 8, 16, 4, 1, false)
