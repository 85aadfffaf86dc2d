#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/binary_ops.h"
#include "mlx/backend/metal/kernels/binary_two.h"

instantiate_kernel("vv_DivModfloat32", binary_vv, float, float, DivMod)
instantiate_kernel("vv_DivModfloat16", binary_vv, half, half, DivMod)
instantiate_kernel("vv_DivModbfloat16", binary_vv, bfloat16_t, bfloat16_t, DivMod)
