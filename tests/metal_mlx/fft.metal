#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/fft.h"
#include <metal_math>

instantiate_kernel("fft_mem_256_float2_float2", fft, 256, float2, float2)
instantiate_kernel("fft_mem_256_float_float2", fft, 256, float, float2)
instantiate_kernel("rader_fft_mem_256", rader_fft, 256, float2, float2)
instantiate_kernel("bluestein_fft_mem_256", bluestein_fft, 256, float2, float2)
instantiate_kernel("four_step_mem_256_0", four_step_fft, 256, float2, float2, 0)
