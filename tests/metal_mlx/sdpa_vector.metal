#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/sdpa_vector.h"

instantiate_kernel("sdpa_vector_float32_64_64", sdpa_vector, float, 64)
instantiate_kernel("sdpa_vector_float32_96_96", sdpa_vector, float, 96)
instantiate_kernel("sdpa_vector_float32_128_128", sdpa_vector, float, 128)
instantiate_kernel("sdpa_vector_float32_256_256", sdpa_vector, float, 256)
instantiate_kernel("sdpa_vector_float16_64_64", sdpa_vector, half, 64)
instantiate_kernel("sdpa_vector_float16_96_96", sdpa_vector, half, 96)
instantiate_kernel("sdpa_vector_float16_128_128", sdpa_vector, half, 128)
instantiate_kernel("sdpa_vector_float16_256_256", sdpa_vector, half, 256)
instantiate_kernel("sdpa_vector_bfloat16_64_64", sdpa_vector, bfloat16_t, 64)
instantiate_kernel("sdpa_vector_bfloat16_96_96", sdpa_vector, bfloat16_t, 96)
instantiate_kernel("sdpa_vector_bfloat16_128_128", sdpa_vector, bfloat16_t, 128)
instantiate_kernel("sdpa_vector_bfloat16_256_256", sdpa_vector, bfloat16_t, 256)
instantiate_kernel("sdpa_vector_2pass_1_float32_128_128", sdpa_vector_2pass_1, float, 128, 128)
instantiate_kernel("sdpa_vector_2pass_1_float16_128_128", sdpa_vector_2pass_1, half, 128, 128)
instantiate_kernel("sdpa_vector_2pass_1_bfloat16_128_128", sdpa_vector_2pass_1, bfloat16_t, 128, 128)
instantiate_kernel("sdpa_vector_2pass_2_float32_128", sdpa_vector_2pass_2, float, 128)
instantiate_kernel("sdpa_vector_2pass_2_float16_128", sdpa_vector_2pass_2, half, 128)
instantiate_kernel("sdpa_vector_2pass_2_bfloat16_128", sdpa_vector_2pass_2, bfloat16_t, 128)
