#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/gemm.h"
#include "mlx/backend/metal/kernels/quantized_utils.h"
#include "mlx/backend/metal/kernels/fp_quantized.h"

instantiate_kernel("mxfp4_qmv_fast_float32", fp_qmv_fast, float, 32, 4, false)
instantiate_kernel("mxfp4_qmv_fast_float16", fp_qmv_fast, half, 32, 4, false)
instantiate_kernel("mxfp4_qmv_fast_bfloat16", fp_qmv_fast, bfloat16_t, 32, 4, false)
instantiate_kernel("mxfp8_qmv_float32", fp_qmv, float, 32, 8, false)
instantiate_kernel("mxfp8_qmv_float16", fp_qmv, half, 32, 8, false)
instantiate_kernel("mxfp8_qmv_bfloat16", fp_qmv, bfloat16_t, 32, 8, false)
instantiate_kernel("mxfp4_dequantize_float32", fp_dequantize, float, 32, 4, false)
instantiate_kernel("mxfp4_dequantize_float16", fp_dequantize, half, 32, 4, false)
instantiate_kernel("mxfp4_dequantize_bfloat16", fp_dequantize, bfloat16_t, 32, 4, false)
instantiate_kernel("mxfp4_quantize_float32", fp_quantize, float, 32, 4, false)
instantiate_kernel("mxfp4_quantize_float16", fp_quantize, half, 32, 4, false)
instantiate_kernel("mxfp4_quantize_bfloat16", fp_quantize, bfloat16_t, 32, 4, false)
instantiate_kernel("mxfp4_qmm_t_float32", fp_qmm_t, float, 32, 4, true, false)
instantiate_kernel("mxfp4_qmm_t_float16", fp_qmm_t, half, 32, 4, true, false)
instantiate_kernel("mxfp4_qmm_t_bfloat16", fp_qmm_t, bfloat16_t, 32, 4, true, false)
