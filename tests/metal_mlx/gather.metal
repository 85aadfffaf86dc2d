#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/indexing/gather_axis.h"
#include "mlx/backend/metal/kernels/indexing/gather_front.h"
#include "mlx/backend/metal/kernels/indexing/indexing.h"
#include "mlx/backend/metal/kernels/indexing/gather.h"

instantiate_kernel("gather_axis_float32", gather_axis, float, int32_t, int, true, true)
instantiate_kernel("gather_axis_float16", gather_axis, half, int32_t, int, true, true)
instantiate_kernel("gather_axis_bfloat16", gather_axis, bfloat16_t, int32_t, int, true, true)
instantiate_kernel("gather_front_float32", gather_front, float, int32_t, int, 2)
instantiate_kernel("gather_front_float16", gather_front, half, int32_t, int, 2)
instantiate_kernel("gather_front_bfloat16", gather_front, bfloat16_t, int32_t, int, 2)
