#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/atomic.h"
#include "mlx/backend/metal/kernels/reduction/ops.h"
#include "mlx/backend/metal/kernels/indexing/indexing.h"
#include "mlx/backend/metal/kernels/indexing/scatter.h"
#include "mlx/backend/metal/kernels/indexing/scatter_axis.h"
#include "mlx/backend/metal/kernels/indexing/masked_scatter.h"

instantiate_kernel("scatter_axis_sum_float32", scatter_axis, float, int32_t, int, Sum<float>, true, true)
instantiate_kernel("scatter_axis_sum_float16", scatter_axis, half, int32_t, int, Sum<half>, true, true)
instantiate_kernel("scatter_axis_sum_bfloat16", scatter_axis, bfloat16_t, int32_t, int, Sum<bfloat16_t>, true, true)
instantiate_kernel("masked_assign_float32", masked_assign_impl, float, true)
instantiate_kernel("masked_assign_float16", masked_assign_impl, half, true)
instantiate_kernel("masked_assign_bfloat16", masked_assign_impl, bfloat16_t, true)
