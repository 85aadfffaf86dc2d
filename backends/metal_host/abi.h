/* What compiled Metal text and the runtime share. Plain C: the shim reads it inside clang ("C++ for OpenCL"), the
 * runtime as C++. An object is a relocatable ELF file (position-independent code, no thread-local or writable data)
 * that the runtime places itself; it may call what is declared here, the __tsan_* entry points and
 * __ubsan_handle_out_of_bounds_abort of clang's instrumentation, and the functions of libm and of the compiler's own
 * library that the runtime's table lists.
 *
 * Objects for checked runs are made with -fsanitize=thread and array-bounds and without vectorisers: the former leaves
 * out accesses wider than 16 bytes. */
#ifndef MT_METAL_HOST_ABI_H
#define MT_METAL_HOST_ABI_H

#define MSL_ABI_VERSION 1
#define MSL_LANES 32      /* threads of a simdgroup */
#define MSL_SLOT_BYTES 64 /* widest value of a simd operation, and the distance of two lanes' values */
#define MSL_MAX_BUFFERS 31

#ifdef __OPENCL_CPP_VERSION__
#define MSL_IN_THREAD __private
#define MSL_IN_GROUP __local
#define MSL_IN_CONSTANT __constant
#else
#define MSL_IN_THREAD
#define MSL_IN_GROUP
#define MSL_IN_CONSTANT
#endif

/* Operations of a simdgroup by the name that a report gives them. X(enumerator, spelling) */
#define MSL_SIMD_OPS(X)                                             \
  X(SIMDGROUP_BARRIER, "simdgroup_barrier")                         \
  X(SIMD_SUM, "simd_sum")                                           \
  X(SIMD_PRODUCT, "simd_product")                                   \
  X(SIMD_MIN, "simd_min")                                           \
  X(SIMD_MAX, "simd_max")                                           \
  X(SIMD_AND, "simd_and")                                           \
  X(SIMD_OR, "simd_or")                                             \
  X(SIMD_XOR, "simd_xor")                                           \
  X(SIMD_PREFIX_INCLUSIVE_SUM, "simd_prefix_inclusive_sum")         \
  X(SIMD_PREFIX_EXCLUSIVE_SUM, "simd_prefix_exclusive_sum")         \
  X(SIMD_PREFIX_INCLUSIVE_PRODUCT, "simd_prefix_inclusive_product") \
  X(SIMD_PREFIX_EXCLUSIVE_PRODUCT, "simd_prefix_exclusive_product") \
  X(SIMD_BROADCAST, "simd_broadcast")                               \
  X(SIMD_BROADCAST_FIRST, "simd_broadcast_first")                   \
  X(SIMD_SHUFFLE, "simd_shuffle")                                   \
  X(SIMD_SHUFFLE_XOR, "simd_shuffle_xor")                           \
  X(SIMD_SHUFFLE_UP, "simd_shuffle_up")                             \
  X(SIMD_SHUFFLE_DOWN, "simd_shuffle_down")                         \
  X(SIMD_SHUFFLE_ROTATE_UP, "simd_shuffle_rotate_up")               \
  X(SIMD_SHUFFLE_ROTATE_DOWN, "simd_shuffle_rotate_down")           \
  X(SIMD_SHUFFLE_AND_FILL_UP, "simd_shuffle_and_fill_up")           \
  X(SIMD_SHUFFLE_AND_FILL_DOWN, "simd_shuffle_and_fill_down")       \
  X(SIMD_BALLOT, "simd_ballot")                                     \
  X(SIMD_ANY, "simd_any")                                           \
  X(SIMD_ALL, "simd_all")                                           \
  X(SIMD_IS_FIRST, "simd_is_first")                                 \
  X(SIMD_ACTIVE_THREADS_MASK, "simd_active_threads_mask")           \
  X(QUAD_SUM, "quad_sum")                                           \
  X(QUAD_PRODUCT, "quad_product")                                   \
  X(QUAD_MIN, "quad_min")                                           \
  X(QUAD_MAX, "quad_max")                                           \
  X(QUAD_AND, "quad_and")                                           \
  X(QUAD_OR, "quad_or")                                             \
  X(QUAD_XOR, "quad_xor")                                           \
  X(QUAD_PREFIX_INCLUSIVE_SUM, "quad_prefix_inclusive_sum")         \
  X(QUAD_PREFIX_EXCLUSIVE_SUM, "quad_prefix_exclusive_sum")         \
  X(QUAD_PREFIX_INCLUSIVE_PRODUCT, "quad_prefix_inclusive_product") \
  X(QUAD_PREFIX_EXCLUSIVE_PRODUCT, "quad_prefix_exclusive_product") \
  X(QUAD_BROADCAST, "quad_broadcast")                               \
  X(QUAD_BROADCAST_FIRST, "quad_broadcast_first")                   \
  X(QUAD_SHUFFLE, "quad_shuffle")                                   \
  X(QUAD_SHUFFLE_XOR, "quad_shuffle_xor")                           \
  X(QUAD_SHUFFLE_UP, "quad_shuffle_up")                             \
  X(QUAD_SHUFFLE_DOWN, "quad_shuffle_down")                         \
  X(QUAD_SHUFFLE_ROTATE_UP, "quad_shuffle_rotate_up")               \
  X(QUAD_SHUFFLE_ROTATE_DOWN, "quad_shuffle_rotate_down")           \
  X(QUAD_SHUFFLE_AND_FILL_UP, "quad_shuffle_and_fill_up")           \
  X(QUAD_SHUFFLE_AND_FILL_DOWN, "quad_shuffle_and_fill_down")       \
  X(QUAD_BALLOT, "quad_ballot")                                     \
  X(QUAD_ANY, "quad_any")                                           \
  X(QUAD_ALL, "quad_all")                                           \
  X(QUAD_IS_FIRST, "quad_is_first")                                 \
  X(QUAD_ACTIVE_THREADS_MASK, "quad_active_threads_mask")           \
  X(SIMDGROUP_LOAD, "simdgroup_load")                               \
  X(SIMDGROUP_STORE, "simdgroup_store")                             \
  X(SIMDGROUP_MULTIPLY, "simdgroup_multiply")                       \
  X(SIMDGROUP_MULTIPLY_ACCUMULATE, "simdgroup_multiply_accumulate")

enum msl_simd_op {
#define MSL_OP(name, text) MSL_OP_##name,
  MSL_SIMD_OPS(MSL_OP)
#undef MSL_OP
      MSL_SIMD_OP_COUNT
};

/* What one thread of a launch knows of itself; addresses as numbers, so that each language casts them as it needs.
 * Counts of the grid are of the whole launch; a threadgroup at the edge of a grid counted in threads is smaller than
 * dispatch_threads_per_threadgroup. */
struct msl_context {
  unsigned long buffer[MSL_MAX_BUFFERS];      /* [[buffer(n)]] */
  unsigned long threadgroup[MSL_MAX_BUFFERS]; /* [[threadgroup(n)]] */
  unsigned int thread_position_in_grid[3];
  unsigned int thread_position_in_threadgroup[3];
  unsigned int threadgroup_position_in_grid[3];
  unsigned int threads_per_threadgroup[3];
  unsigned int dispatch_threads_per_threadgroup[3];
  unsigned int threads_per_grid[3];
  unsigned int threadgroups_per_grid[3];
  unsigned int grid_origin[3];
  unsigned int thread_index_in_threadgroup;
  unsigned int thread_index_in_simdgroup;
  unsigned int simdgroup_index_in_threadgroup;
  unsigned int simdgroups_per_threadgroup;
  unsigned int dispatch_simdgroups_per_threadgroup;
  unsigned int threads_per_simdgroup;
  unsigned int thread_index_in_quadgroup;
  unsigned int quadgroup_index_in_threadgroup;
  unsigned int quadgroups_per_threadgroup;
  unsigned int dispatch_quadgroups_per_threadgroup;
};

/* Bits of mem_flags as barriers hand them in: the spaces whose accesses they order. */
enum msl_flags { MSL_MEM_NONE = 0, MSL_MEM_DEVICE = 1, MSL_MEM_THREADGROUP = 2, MSL_MEM_TEXTURE = 4 };

#ifdef __cplusplus
extern "C" {
#endif

/* Entry of kernel K: void msl_entry_K(const struct msl_context*). Function constant n is the object `msl_fc_<n>`,
 * declared extern by the text and placed by the runtime before it places the code. */
#ifndef __OPENCL_CPP_VERSION__
typedef void (*msl_entry)(const struct msl_context* context);
#endif

/* threadgroup_barrier: returns once all threads of the threadgroup have come. `flags` are msl_flags. */
void msl_rt_threadgroup_barrier(unsigned int flags);

/* One simd operation: hands in `bytes` (0 to MSL_SLOT_BYTES) at `value` and returns once every lane that is still to
 * come has. The result holds lane i's value at i * MSL_SLOT_BYTES and stays good until the lane's next operation; what
 * lanes that took no part hold is not defined. `op` is an msl_simd_op; simdgroup_barrier hands in its msl_flags as an
 * unsigned int. Only barriers order memory. */
const MSL_IN_THREAD void* msl_rt_simd(unsigned int op, const MSL_IN_THREAD void* value, unsigned int bytes);
/* Lanes that took part in the last simd operation, as bits. */
unsigned int msl_rt_active(void);
unsigned int msl_rt_lane(void);

/* One product of simdgroup matrices, as msl_rt_simd for `op`: hands in two neighbours of a row of each factor,
 * {a0, a1, b0, b1}, and adds the lane's two elements of the product to `sum`, one fused step for each k from 0 to 7. */
void msl_rt_multiply(unsigned int op, const MSL_IN_THREAD float* factors, MSL_IN_THREAD float* sum);

/* The threadgroup's array number `id` of this kernel; the same for all its threads. `name` is what a report calls it;
 * null where there is none. */
MSL_IN_GROUP void* msl_rt_threadgroup(unsigned int id, unsigned long bytes, unsigned long align,
                                      const MSL_IN_CONSTANT char* name);

/* Ends the launch with an error that says `what`. */
void msl_rt_fault(const MSL_IN_CONSTANT char* what) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
