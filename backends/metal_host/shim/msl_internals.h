// Functions below the library's own, that public kernels call to add overloads for bfloat.
#define __METAL_MAYBE_FAST_MATH__ true
#define __METAL_FAST_MATH__ true
#define __METAL_PRECISE_MATH__ false
#define __METAL_MEMORY_SCOPE_SYSTEM__ 3
#define MSL_X(name) \
  MSL_FN float __metal_##name(float x, bool) { return metal::precise::name(x); }
MSL_X(acos)
MSL_X(acosh)
MSL_X(asin)
MSL_X(asinh)
MSL_X(atan)
MSL_X(atanh)
MSL_X(ceil)
MSL_X(cos)
MSL_X(cosh)
MSL_X(cospi)
MSL_X(exp)
MSL_X(exp10)
MSL_X(exp2)
MSL_X(fabs)
MSL_X(floor)
MSL_X(fract)
MSL_X(log)
MSL_X(log10)
MSL_X(log2)
MSL_X(rint)
MSL_X(round)
MSL_X(rsqrt)
MSL_X(sin)
MSL_X(sinh)
MSL_X(sinpi)
MSL_X(sqrt)
MSL_X(tan)
MSL_X(tanh)
MSL_X(tanpi)
MSL_X(trunc)
#undef MSL_X
#define MSL_X(name) \
  MSL_FN float __metal_##name(float x, float y, bool = true) { return metal::precise::name(x, y); }
MSL_X(atan2)
MSL_X(divide)
MSL_X(fmax)
MSL_X(fmin)
MSL_X(fmod)
MSL_X(pow)
MSL_X(powr)
#undef MSL_X
#define MSL_X(name) \
  MSL_FN float __metal_##name(float x, float y, float z, bool) { return metal::precise::name(x, y, z); }
MSL_X(fmax3)
MSL_X(fmin3)
MSL_X(fmedian3)
#undef MSL_X
MSL_FN float __metal_nextafter(float x, float y) { return nextafterf(x, y); }
MSL_FN float __metal_fma(float x, float y, float z) { return fmaf(x, y, z); }
MSL_FN float __metal_frexp(float x, __private int* e) { return frexpf(x, e); }
MSL_FN float __metal_ldexp(float x, int k, bool) { return ldexpf(x, k); }
MSL_FN ushort __metal_get_simdgroup_size(ushort) { return MSL_LANES; }
MSL_FN ushort __metal_get_thread_index_in_simdgroup(ushort) { return ushort(msl_rt_lane()); }
#define MSL_X(name)                    \
  template <typename... A>             \
  MSL_FN auto __metal_##name(A... a) { \
    return metal::name(a...);          \
  }
MSL_X(simd_broadcast)
MSL_X(simd_broadcast_first)
MSL_X(simd_shuffle)
MSL_X(simd_shuffle_and_fill_down)
MSL_X(simd_shuffle_and_fill_up)
MSL_X(simd_shuffle_down)
MSL_X(simd_shuffle_rotate_down)
MSL_X(simd_shuffle_rotate_up)
MSL_X(simd_shuffle_up)
MSL_X(simd_shuffle_xor)
MSL_X(simd_max)
MSL_X(simd_min)
MSL_X(simd_prefix_exclusive_product)
MSL_X(simd_prefix_exclusive_sum)
MSL_X(simd_prefix_inclusive_product)
MSL_X(simd_prefix_inclusive_sum)
MSL_X(simd_product)
MSL_X(simd_sum)
#undef MSL_X
MSL_FN float __metal_simd_xor(float x) { msl_rt_fault("__metal_simd_xor: there is no exclusive or of floats"); }
