#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/ternary_ops.h"
#include "mlx/backend/metal/kernels/ternary.h"

instantiate_kernel("v_Selectfloat32", ternary_v, float, Select, false, false)
instantiate_kernel("v_Selectfloat16", ternary_v, half, Select, false, false)
instantiate_kernel("v_Selectbfloat16", ternary_v, bfloat16_t, Select, false, false)
instantiate_kernel("v_Selectbool_", ternary_v, bool, Select, false, false)
instantiate_kernel("v_Selectint64", ternary_v, int64_t, Select, false, false)
instantiate_kernel("g2_Selectfloat32", ternary_g_nd2, float, Select, int)
