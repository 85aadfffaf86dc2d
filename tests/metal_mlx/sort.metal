#include <metal_stdlib>
using namespace metal;
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/sort.h"

instantiate_kernel("c_block_sort_float32", block_sort, float, float, false, 256, 4)
instantiate_kernel("c_block_sort_float16", block_sort, half, half, false, 256, 4)
instantiate_kernel("c_block_sort_bfloat16", block_sort, bfloat16_t, bfloat16_t, false, 256, 4)
instantiate_kernel("c_block_sort_int32", block_sort, int32_t, int32_t, false, 256, 4)
instantiate_kernel("c_block_sort_uint8", block_sort, uint8_t, uint8_t, false, 256, 4)
instantiate_kernel("carg_block_sort_float32", block_sort, float, uint, true, 128, 8)
instantiate_kernel("carg_block_sort_float16", block_sort, half, uint, true, 128, 8)
instantiate_kernel("carg_block_sort_bfloat16", block_sort, bfloat16_t, uint, true, 128, 8)
instantiate_kernel("nc_block_sort_float32", block_sort_nc, float, float, false, 256, 4)
instantiate_kernel("sort_mb_float32", mb_block_sort, float, uint, true, 256, 4)
instantiate_kernel("partition_mb_float32", mb_block_partition, float, uint, true, 256, 4)
instantiate_kernel("merge_mb_float32", mb_block_merge, float, uint, true, 256, 4)
