// matrix<T, columns, rows>, of float and half.
namespace metal {
template <typename T, int C, int R>
struct matrix {
  static_assert(is_same_v<T, float> || is_same_v<T, half>, "matrix: elements are float or half");
  vec<T, R> c_[C];
  matrix() = default;
  matrix(const matrix&) = default;
  matrix(const __constant matrix&) = default;
  matrix& operator=(const matrix&) = default;
  MSL_FN explicit matrix(T d) {
    for (int i = 0; i < C; ++i)
      for (int j = 0; j < R; ++j) c_[i].v_[j] = i == j ? d : T(0);
  }
  template <typename... A, enable_if_t<sizeof...(A) == C && (is_same_v<A, vec<T, R>> && ...), bool> = true>
  MSL_FN matrix(A... columns) : c_{columns...} {}
  template <typename... A, enable_if_t<sizeof...(A) == C * R && (is_arithmetic_v<A> && ...), bool> = true>
  MSL_FN matrix(A... elements) {
    T all[] = {T(elements)...};
    for (int i = 0; i < C; ++i)
      for (int j = 0; j < R; ++j) c_[i].v_[j] = all[i * R + j];
  }
#define MSL_INDEX(as)                                         \
  MSL_FN as vec<T, R>& operator[](int i) as { return c_[i]; } \
  MSL_FN const as vec<T, R>& operator[](int i) const as { return c_[i]; }
  MSL_INDEX(__private)
  MSL_INDEX(__global)
  MSL_INDEX(__local)
  MSL_FN const __constant vec<T, R>& operator[](int i) const __constant { return c_[i]; }
  MSL_FN const vec<T, R>& operator[](int i) const { return c_[i]; }
#undef MSL_INDEX
};
template <typename T, int C, int R>
MSL_FN vec<T, R> operator*(matrix<T, C, R> m, vec<T, C> v) {
  vec<T, R> r = m[0] * v.v_[0];
  for (int i = 1; i < C; ++i) r += m[i] * v.v_[i];
  return r;
}
template <typename T, int C, int R>
MSL_FN vec<T, C> operator*(vec<T, R> v, matrix<T, C, R> m) {
  vec<T, C> r;
  for (int i = 0; i < C; ++i) r.v_[i] = dot(v, m[i]);
  return r;
}
template <typename T, int K, int R, int C>
MSL_FN matrix<T, C, R> operator*(matrix<T, K, R> a, matrix<T, C, K> b) {
  matrix<T, C, R> r;
  for (int i = 0; i < C; ++i) r[i] = a * b[i];
  return r;
}
#define MSL_BINARY(op)                                                       \
  template <typename T, int C, int R>                                        \
  MSL_FN matrix<T, C, R> operator op(matrix<T, C, R> a, matrix<T, C, R> b) { \
    for (int i = 0; i < C; ++i) a[i] op## = b[i];                            \
    return a;                                                                \
  }
MSL_BINARY(+)
MSL_BINARY(-)
#undef MSL_BINARY
template <typename T, int C, int R>
MSL_FN matrix<T, C, R> operator*(matrix<T, C, R> a, T s) {
  for (int i = 0; i < C; ++i) a[i] *= vec<T, R>(s);
  return a;
}
template <typename T, int C, int R>
MSL_FN matrix<T, C, R> operator*(T s, matrix<T, C, R> a) {
  return a * s;
}
template <typename T, int C, int R>
MSL_FN matrix<T, R, C> transpose(matrix<T, C, R> a) {
  matrix<T, R, C> r;
  for (int i = 0; i < C; ++i)
    for (int j = 0; j < R; ++j) r[j].v_[i] = a[i].v_[j];
  return r;
}
template <typename T>
MSL_FN T determinant(matrix<T, 2, 2> m) {
  return m[0].x * m[1].y - m[1].x * m[0].y;
}
template <typename T>
MSL_FN T determinant(matrix<T, 3, 3> m) {
  return dot(m[0], cross(m[1], m[2]));
}
#define MSL_SHAPES(X) X(2, 2) X(2, 3) X(2, 4) X(3, 2) X(3, 3) X(3, 4) X(4, 2) X(4, 3) X(4, 4)
#define MSL_X(c, r)                           \
  typedef matrix<float, c, r> float##c##x##r; \
  typedef matrix<half, c, r> half##c##x##r;
MSL_SHAPES(MSL_X)
#undef MSL_X
}  // namespace metal
#define MSL_X(c, r)            \
  using metal::float##c##x##r; \
  using metal::half##c##x##r;
MSL_SHAPES(MSL_X)
#undef MSL_X
using metal::matrix;
