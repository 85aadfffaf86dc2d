// simdgroup_matrix<T, 8, 8>. Each lane holds two neighbours of a row; which ones is not documented by the language, and
// is here what public kernels rely on: lane bits 0 and 3 choose the pair of columns, bits 1, 2 and 4 the row.
namespace metal {
MSL_FN uint msl_row(uint lane) { return ((lane >> 1) & 3u) | ((lane >> 2) & 4u); }
MSL_FN uint msl_column(uint lane) { return ((lane & 1u) << 1) | ((lane >> 1) & 4u); }
template <typename T, int C, int R>
struct simdgroup_matrix {
  static_assert(C == 8 && R == 8, "simdgroup_matrix: only 8 x 8");
  static_assert(msl_floating<T>, "simdgroup_matrix: elements are float, half or bfloat");
  typedef vec<T, 2> storage_type;
  simdgroup_matrix() = default;
  MSL_FN explicit simdgroup_matrix(T diagonal) {
    uint lane = msl_rt_lane(), row = msl_row(lane), column = msl_column(lane);
    e_ = vec<T, 2>(row == column ? diagonal : T(0), row == column + 1 ? diagonal : T(0));
  }
  MSL_FN __private vec<T, 2>& thread_elements() __private { return e_; }
  MSL_FN const __private vec<T, 2>& thread_elements() const __private { return e_; }
  vec<T, 2> e_;
};
#define MSL_X(t) typedef simdgroup_matrix<t, 8, 8> simdgroup_##t##8x8;
MSL_X(float)
MSL_X(half)
MSL_X(bfloat)
#undef MSL_X
template <typename T, int C, int R = C>
MSL_FN simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, C, R> m;
  m.e_ = vec<T, 2>(value, value);
  return m;
}
template <typename T, int C, int R = C>
MSL_FN simdgroup_matrix<T, C, R> make_diagonal_simdgroup_matrix(T value) {
  return simdgroup_matrix<T, C, R>(value);
}
template <typename D, typename A, typename B>
MSL_FN void msl_multiply(uint op, __private vec<D, 2>& d, vec<A, 2> a, vec<B, 2> b, float c0, float c1) {
  float factors[4] = {float(a.x), float(a.y), float(b.x), float(b.y)}, sum[2] = {c0, c1};
  msl_rt_multiply(op, factors, sum);
  d = vec<D, 2>(D(sum[0]), D(sum[1]));
}
template <typename D, typename A, typename B, typename C>
MSL_FN void simdgroup_multiply_accumulate(__private simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                                          simdgroup_matrix<B, 8, 8> b, simdgroup_matrix<C, 8, 8> c) {
  msl_multiply(MSL_OP_SIMDGROUP_MULTIPLY_ACCUMULATE, d.e_, a.e_, b.e_, float(c.e_.x), float(c.e_.y));
}
template <typename D, typename A, typename B>
MSL_FN void simdgroup_multiply(__private simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                               simdgroup_matrix<B, 8, 8> b) {
  msl_multiply(MSL_OP_SIMDGROUP_MULTIPLY, d.e_, a.e_, b.e_, 0.0f, 0.0f);
}
#define MSL_MEMORY(as)                                                                                             \
  template <typename T>                                                                                            \
  MSL_FN void simdgroup_load(__private simdgroup_matrix<T, 8, 8>& m, const as T* from, ulong elements_per_row = 8, \
                             vec<ulong, 2> origin = vec<ulong, 2>(0ul), bool transpose = false) {                  \
    (void)msl_rt_simd(MSL_OP_SIMDGROUP_LOAD, 0, 0);                                                                \
    uint lane = msl_rt_lane(), row = msl_row(lane), column = msl_column(lane);                                     \
    for (uint j = 0; j < 2; ++j)                                                                                   \
      m.e_.v_[j] = transpose ? from[(origin.y + column + j) * elements_per_row + origin.x + row]                   \
                             : from[(origin.y + row) * elements_per_row + origin.x + column + j];                  \
  }                                                                                                                \
  template <typename T>                                                                                            \
  MSL_FN void simdgroup_store(simdgroup_matrix<T, 8, 8> m, as T* to, ulong elements_per_row = 8,                   \
                              vec<ulong, 2> origin = vec<ulong, 2>(0ul), bool transpose = false) {                 \
    uint lane = msl_rt_lane(), row = msl_row(lane), column = msl_column(lane);                                     \
    for (uint j = 0; j < 2; ++j)                                                                                   \
      (transpose ? to[(origin.y + column + j) * elements_per_row + origin.x + row]                                 \
                 : to[(origin.y + row) * elements_per_row + origin.x + column + j]) = m.e_.v_[j];                  \
    (void)msl_rt_simd(MSL_OP_SIMDGROUP_STORE, 0, 0);                                                               \
  }
MSL_MEMORY(__global)
MSL_MEMORY(__local)
#undef MSL_MEMORY
#define MSL_BINARY(op)                                                                                     \
  template <typename T>                                                                                    \
  MSL_FN simdgroup_matrix<T, 8, 8> operator op(simdgroup_matrix<T, 8, 8> a, simdgroup_matrix<T, 8, 8> b) { \
    a.e_ op## = b.e_;                                                                                      \
    return a;                                                                                              \
  }
MSL_BINARY(+)
MSL_BINARY(-)
#undef MSL_BINARY
template <typename T>
MSL_FN simdgroup_matrix<T, 8, 8> operator*(simdgroup_matrix<T, 8, 8> a, simdgroup_matrix<T, 8, 8> b) {
  simdgroup_matrix<T, 8, 8> r;
  simdgroup_multiply(r, a, b);
  return r;
}
}  // namespace metal
