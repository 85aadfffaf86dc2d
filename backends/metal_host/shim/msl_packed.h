// packed_<T><N>, array and uniform; the names of vector types.
namespace metal {
/// Components without padding; arithmetic is done on the vector of the same components.
template <typename T, int N>
struct packed_vec {
  T v_[N];
  packed_vec() = default;
  packed_vec(const packed_vec&) = default;
  packed_vec(const __constant packed_vec&) = default;
  packed_vec& operator=(const packed_vec&) = default;
  MSL_FN constexpr packed_vec(T s) {
    for (int i = 0; i < N; ++i) v_[i] = s;
  }
  MSL_FN constexpr packed_vec(vec<T, N> o) {
    for (int i = 0; i < N; ++i) v_[i] = o.v_[i];
  }
  template <typename... A, enable_if_t<sizeof...(A) == N && (is_convertible_v<A, T> && ...), bool> = true>
  MSL_FN constexpr packed_vec(A... a) : v_{T(a)...} {}
  MSL_FN operator vec<T, N>() const {
    vec<T, N> r;
    for (int i = 0; i < N; ++i) r.v_[i] = v_[i];
    return r;
  }
  MSL_FN operator vec<T, N>() const __constant {
    vec<T, N> r;
    for (int i = 0; i < N; ++i) r.v_[i] = v_[i];
    return r;
  }
#define MSL_INDEX(as)                                 \
  MSL_FN as T& operator[](int i) as { return v_[i]; } \
  MSL_FN const as T& operator[](int i) const as { return v_[i]; }
  MSL_INDEX(__private)
  MSL_INDEX(__global)
  MSL_INDEX(__local)
  MSL_FN const __constant T& operator[](int i) const __constant { return v_[i]; }
#undef MSL_INDEX
  template <int... I>
  MSL_FN auto swizzle() const {
    return vec<T, N>(*this).template swizzle<I...>();
  }
#define MSL_BINARY(op)                                                                                     \
  friend MSL_FN vec<T, N> operator op(packed_vec a, packed_vec b) { return vec<T, N>(a) op vec<T, N>(b); } \
  friend MSL_FN vec<T, N> operator op(packed_vec a, vec<T, N> b) { return vec<T, N>(a) op b; }             \
  friend MSL_FN vec<T, N> operator op(vec<T, N> a, packed_vec b) { return a op vec<T, N>(b); }             \
  friend MSL_FN vec<T, N> operator op(packed_vec a, T b) { return vec<T, N>(a) op b; }                     \
  friend MSL_FN vec<T, N> operator op(T a, packed_vec b) { return a op vec<T, N>(b); }                     \
  template <typename U>                                                                                    \
  MSL_FN void operator op##=(U b) {                                                                        \
    *this = packed_vec(vec<T, N>(*this) op b);                                                             \
  }
  MSL_BINARY(+)
  MSL_BINARY(-)
  MSL_BINARY(*)
  MSL_BINARY(/)
#undef MSL_BINARY
};
template <typename T, size_t N>
struct array {
  T v_[N];
  array() = default;
  array(const array&) = default;
  array(const __constant array&) = default;
  array& operator=(const array&) = default;
#define MSL_INDEX(as)                                    \
  MSL_FN as T& operator[](size_t i) as { return v_[i]; } \
  MSL_FN const as T& operator[](size_t i) const as { return v_[i]; }
  MSL_INDEX(__private)
  MSL_INDEX(__global)
  MSL_INDEX(__local)
  MSL_FN const __constant T& operator[](size_t i) const __constant { return v_[i]; }
  MSL_FN constexpr const T& operator[](size_t i) const { return v_[i]; }
#undef MSL_INDEX
  static constexpr size_t size() { return N; }
  static constexpr bool empty() { return N == 0; }
};
template <typename T>
struct uniform {
  T v;
  MSL_FN constexpr uniform(T x) : v(x) {}
  MSL_FN constexpr operator T() const { return v; }
};
template <typename T>
MSL_FN constexpr uniform<T> make_uniform(T x) {
  return uniform<T>(x);
}
template <typename T>
MSL_FN constexpr uniform<T> make_uniform(uniform<T> x) {
  return x;
}

#define MSL_NAMES(X) \
  X(bool) X(char) X(uchar) X(short) X(ushort) X(int) X(uint) X(long) X(ulong) X(half) X(float) X(bfloat)
#define MSL_X(t)                          \
  typedef vec<t, 2> t##2;                 \
  typedef vec<t, 3> t##3;                 \
  typedef vec<t, 4> t##4;                 \
  typedef packed_vec<t, 2> packed_##t##2; \
  typedef packed_vec<t, 3> packed_##t##3; \
  typedef packed_vec<t, 4> packed_##t##4;
MSL_NAMES(MSL_X)
#undef MSL_X
// Layouts that buffers rely on; the classes are also made here once instead of in every text.
#define MSL_X(t)                                                                                                     \
  static_assert(sizeof(t##2) == 2 * sizeof(t) && sizeof(t##3) == 4 * sizeof(t) && sizeof(t##4) == 4 * sizeof(t));    \
  static_assert(alignof(t##2) == 2 * sizeof(t) && alignof(t##3) == 4 * sizeof(t) && alignof(t##4) == 4 * sizeof(t)); \
  static_assert(sizeof(packed_##t##3) == 3 * sizeof(t) && alignof(packed_##t##3) == alignof(t));
MSL_NAMES(MSL_X)
#undef MSL_X
}  // namespace metal
