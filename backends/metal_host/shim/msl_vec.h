// vec<T, 2..4>. A swizzle `v.yx` arrives here as v.template swizzle<1, 0>(), and before an assignment as
// v.template swizzle_of<1, 0>().
namespace metal {
template <typename To, typename From>
MSL_FN constexpr To msl_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "as_type: the types differ in size");
  return __builtin_bit_cast(To, x);
}

/// The compiler's own vector, with vec's size.
template <typename T, int N>
using msl_native = T __attribute__((ext_vector_type(N)));

template <typename T, int N>
struct vec {
  static_assert(N >= 2 && N <= 4, "vec: 2, 3 or 4 components");
};
template <typename T>
constexpr __constant int msl_count = 1;
template <typename T, int N>
constexpr __constant int msl_count<vec<T, N>> = N;
/// Of what vec<T, N> may be made together with others: numbers and vectors of the same components.
template <typename T, typename A>
constexpr __constant bool msl_part = is_arithmetic_v<A> || is_enum_v<A>;
template <typename T, typename U, int N>
constexpr __constant bool msl_part<T, vec<U, N>> = is_same_v<T, U>;
template <typename A>
constexpr __constant bool msl_is_vec = false;
template <typename T, int N>
constexpr __constant bool msl_is_vec<vec<T, N>> = true;

/// Component I of the arguments laid end to end.
template <typename T, int I, typename A, typename... R>
MSL_FN constexpr T msl_component(A a, R... rest) {
  if constexpr (I >= msl_count<A>)
    return msl_component<T, I - msl_count<A>>(rest...);
  else if constexpr (msl_is_vec<A>)
    return a.template component<I>();
  else
    return T(a);
}

template <typename T, int... I>
struct msl_swizzle {
  T* at;
  typedef vec<T, sizeof...(I)> value;
  MSL_FN void operator=(value v) { put<0, I...>(v); }
  MSL_FN operator value() const { return value(at[I]...); }
#define MSL_ASSIGN(op) \
  MSL_FN void operator op##=(value v) { put<0, I...>(value(at[I]...) op v); }
  MSL_ASSIGN(+)
  MSL_ASSIGN(-)
  MSL_ASSIGN(*)
  MSL_ASSIGN(/)
  MSL_ASSIGN(%)
  MSL_ASSIGN(&)
  MSL_ASSIGN(|)
  MSL_ASSIGN(^)
  MSL_ASSIGN(<<)
  MSL_ASSIGN(>>)
#undef MSL_ASSIGN
 private:
  template <int K, int First, int... Rest>
  MSL_FN void put(value v) {
    at[First] = v.template component<K>();
    if constexpr (sizeof...(Rest) > 0) put<K + 1, Rest...>(v);
  }
};

constexpr bool msl_distinct(int a, int b, int c = -1, int d = -2) {
  return a != b && a != c && a != d && b != c && b != d && c != d;
}

template <typename U, typename T>
constexpr __constant bool msl_splats = is_arithmetic_v<U> && !is_same_v<U, T> && is_convertible_v<U, T>;

#define MSL_INDEX(as)                                 \
  MSL_FN as T& operator[](int i) as { return v_[i]; } \
  MSL_FN const as T& operator[](int i) const as { return v_[i]; }
// `GET` returns component I, `ALL(e)` is e(x), e(y), ... and `BOTH(op)` a.x op b.x, ...
#define MSL_READ(N, as, GET)                                                  \
  template <int... I>                                                         \
  MSL_FN constexpr vec<T, sizeof...(I)> swizzle() const as {                  \
    static_assert(((I < N) && ...), "vec: the vector has no such component"); \
    return vec<T, sizeof...(I)>(component<I>()...);                           \
  }                                                                           \
  template <int I>                                                            \
  MSL_FN constexpr T component() const as {                                   \
    GET                                                                       \
  }
// Vectors of floats are added, subtracted and multiplied whole: that is half of what most texts do, and takes the
// compiler a fraction of the time.
#define MSL_ARITHMETIC(N, op, BOTH)                                                                     \
  friend MSL_FN constexpr vec operator op(vec a, vec b) {                                               \
    if constexpr (is_same_v<T, float>) {                                                                \
      typedef msl_native<T, N> Native;                                                                  \
      if (!__builtin_is_constant_evaluated())                                                           \
        return __builtin_bit_cast(vec, __builtin_bit_cast(Native, a) op __builtin_bit_cast(Native, b)); \
    }                                                                                                   \
    return vec(BOTH(T, op));                                                                            \
  }                                                                                                     \
  MSL_ASSIGN(op)
#define MSL_BINARY(op, BOTH)                                                         \
  friend MSL_FN constexpr vec operator op(vec a, vec b) { return vec(BOTH(T, op)); } \
  MSL_ASSIGN(op)
#define MSL_ASSIGN(op)                                                   \
  friend MSL_FN __private vec& operator op##=(__private vec& a, vec b) { \
    a = a op b;                                                          \
    return a;                                                            \
  }                                                                      \
  friend MSL_FN __global vec& operator op##=(__global vec& a, vec b) {   \
    a = a op b;                                                          \
    return a;                                                            \
  }                                                                      \
  friend MSL_FN __local vec& operator op##=(__local vec& a, vec b) {     \
    a = a op b;                                                          \
    return a;                                                            \
  }
#define MSL_COMPARE(N, op, BOTH) \
  friend MSL_FN constexpr vec<bool, N> operator op(vec a, vec b) { return vec<bool, N>(BOTH(bool, op)); }
#define MSL_STEP(op, as)                              \
  friend MSL_FN as vec& operator op##op(as vec& a) {  \
    a = a op vec(T(1));                               \
    return a;                                         \
  }                                                   \
  friend MSL_FN vec operator op##op(as vec& a, int) { \
    vec old = a;                                      \
    a = a op vec(T(1));                               \
    return old;                                       \
  }
#define MSL_NEGATED(c) T(-c)
#define MSL_INVERTED(c) T(~c)
#define MSL_MEMBERS(N, GET, ALL, BOTH)                                                   \
  typedef T value_type;                                                                  \
  vec() = default;                                                                       \
  vec(const vec&) = default;                                                             \
  vec& operator=(const vec&) = default;                                                  \
  template <typename U, enable_if_t<is_same_v<remove_cv_t<U>, vec>, bool> = true>        \
  MSL_FN constexpr vec(const __constant U& a) : v_{ALL(T)} {}                            \
  template <typename U, enable_if_t<is_same_v<remove_cv_t<U>, vec>, bool> = true>        \
  MSL_FN vec& operator=(const __constant U& o) {                                         \
    return *this = vec(o);                                                               \
  }                                                                                      \
  template <typename U, enable_if_t<msl_splats<U, T>, bool> = true>                      \
  MSL_FN constexpr vec(U s) : vec(T(s)) {}                                               \
  template <typename U, enable_if_t<!is_same_v<U, T>, bool> = true>                      \
  MSL_FN explicit constexpr vec(vec<U, N> a) : vec(ALL(T)) {}                            \
  template <int... I>                                                                    \
  MSL_FN constexpr msl_swizzle<T, I...> swizzle_of() {                                   \
    static_assert(((I < N) && ...), "vec: the vector has no such component");            \
    static_assert(msl_distinct(I...), "vec: a component is assigned twice");             \
    return msl_swizzle<T, I...>{v_};                                                     \
  }                                                                                      \
  MSL_READ(N, , GET)                                                                     \
  MSL_READ(N, __constant, GET)                                                           \
  MSL_INDEX(__private)                                                                   \
  MSL_INDEX(__global)                                                                    \
  MSL_INDEX(__local)                                                                     \
  MSL_FN const __constant T& operator[](int i) const __constant { return v_[i]; }        \
  MSL_FN constexpr const T& operator[](int i) const { return v_[i]; }                    \
  MSL_ARITHMETIC(N, +, BOTH)                                                             \
  MSL_ARITHMETIC(N, -, BOTH)                                                             \
  MSL_ARITHMETIC(N, *, BOTH)                                                             \
  MSL_BINARY(/, BOTH)                                                                    \
  MSL_BINARY(%, BOTH)                                                                    \
  MSL_BINARY(&, BOTH)                                                                    \
  MSL_BINARY(|, BOTH)                                                                    \
  MSL_BINARY(^, BOTH)                                                                    \
  MSL_BINARY(<<, BOTH)                                                                   \
  MSL_BINARY(>>, BOTH)                                                                   \
  MSL_COMPARE(N, ==, BOTH)                                                               \
  MSL_COMPARE(N, !=, BOTH)                                                               \
  MSL_COMPARE(N, <, BOTH)                                                                \
  MSL_COMPARE(N, >, BOTH)                                                                \
  MSL_COMPARE(N, <=, BOTH)                                                               \
  MSL_COMPARE(N, >=, BOTH)                                                               \
  MSL_COMPARE(N, &&, BOTH)                                                               \
  MSL_COMPARE(N, ||, BOTH)                                                               \
  friend MSL_FN constexpr vec operator-(vec a) { return vec(ALL(MSL_NEGATED)); }         \
  friend MSL_FN constexpr vec operator+(vec a) { return a; }                             \
  friend MSL_FN constexpr vec operator~(vec a) { return vec(ALL(MSL_INVERTED)); }        \
  friend MSL_FN constexpr vec<bool, N> operator!(vec a) { return vec<bool, N>(ALL(!)); } \
  MSL_STEP(+, __private)                                                                 \
  MSL_STEP(+, __global)                                                                  \
  MSL_STEP(+, __local)                                                                   \
  MSL_STEP(-, __private)                                                                 \
  MSL_STEP(-, __global)                                                                  \
  MSL_STEP(-, __local)
#define MSL_ALL2(e) e(a.x), e(a.y)
#define MSL_BOTH2(to, op) to(a.x op b.x), to(a.y op b.y)
#define MSL_GET2        \
  if constexpr (I == 0) \
    return x;           \
  else                  \
    return y;
#define MSL_ALL3(e) e(a.x), e(a.y), e(a.z)
#define MSL_BOTH3(to, op) to(a.x op b.x), to(a.y op b.y), to(a.z op b.z)
#define MSL_GET3             \
  if constexpr (I == 0)      \
    return x;                \
  else if constexpr (I == 1) \
    return y;                \
  else                       \
    return z;
#define MSL_ALL4(e) e(a.x), e(a.y), e(a.z), e(a.w)
#define MSL_BOTH4(to, op) to(a.x op b.x), to(a.y op b.y), to(a.z op b.z), to(a.w op b.w)
#define MSL_GET4             \
  if constexpr (I == 0)      \
    return x;                \
  else if constexpr (I == 1) \
    return y;                \
  else if constexpr (I == 2) \
    return z;                \
  else                       \
    return w;

template <typename T>
struct alignas(2 * sizeof(T)) vec<T, 2> {
  static_assert(is_arithmetic_v<T>, "vec: components are numbers or bool");
  union {
    struct {
      T x, y;
    };
    struct {
      T r, g;
    };
    T v_[2];
  };
  MSL_FN constexpr vec(T s) : x(s), y(s) {}
  MSL_FN constexpr vec(T x_, T y_) : x(x_), y(y_) {}
  MSL_MEMBERS(2, MSL_GET2, MSL_ALL2, MSL_BOTH2)
};

template <typename T>
struct alignas(4 * sizeof(T)) vec<T, 3> {
  static_assert(is_arithmetic_v<T>, "vec: components are numbers or bool");
  union {
    struct {
      T x, y, z;
    };
    struct {
      T r, g, b;
    };
    T v_[3];
  };
  MSL_FN constexpr vec(T s) : x(s), y(s), z(s) {}
  MSL_FN constexpr vec(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {}
  template <typename A, typename B, typename... R,
            enable_if_t<msl_part<T, A> && msl_part<T, B> && (msl_part<T, R> && ...) &&
                            (msl_is_vec<A> || msl_is_vec<B> || (msl_is_vec<R> || ...)) &&
                            (msl_count<A> + msl_count<B> + (0 + ... + msl_count<R>)) == 3,
                        bool> = true>
  MSL_FN constexpr vec(A p, B q, R... r)
      : x(msl_component<T, 0>(p, q, r...)), y(msl_component<T, 1>(p, q, r...)), z(msl_component<T, 2>(p, q, r...)) {}
  MSL_MEMBERS(3, MSL_GET3, MSL_ALL3, MSL_BOTH3)
};

template <typename T>
struct alignas(4 * sizeof(T)) vec<T, 4> {
  static_assert(is_arithmetic_v<T>, "vec: components are numbers or bool");
  union {
    struct {
      T x, y, z, w;
    };
    struct {
      T r, g, b, a;
    };
    T v_[4];
  };
  MSL_FN constexpr vec(T s) : x(s), y(s), z(s), w(s) {}
  MSL_FN constexpr vec(T x_, T y_, T z_, T w_) : x(x_), y(y_), z(z_), w(w_) {}
  template <typename A, typename B, typename... R,
            enable_if_t<msl_part<T, A> && msl_part<T, B> && (msl_part<T, R> && ...) &&
                            (msl_is_vec<A> || msl_is_vec<B> || (msl_is_vec<R> || ...)) &&
                            (msl_count<A> + msl_count<B> + (0 + ... + msl_count<R>)) == 4,
                        bool> = true>
  MSL_FN constexpr vec(A p, B q, R... r)
      : x(msl_component<T, 0>(p, q, r...)),
        y(msl_component<T, 1>(p, q, r...)),
        z(msl_component<T, 2>(p, q, r...)),
        w(msl_component<T, 3>(p, q, r...)) {}
  MSL_MEMBERS(4, MSL_GET4, MSL_ALL4, MSL_BOTH4)
};
#undef MSL_MEMBERS
#undef MSL_READ
#undef MSL_INDEX
#undef MSL_BINARY
#undef MSL_ARITHMETIC
#undef MSL_ASSIGN
#undef MSL_COMPARE
#undef MSL_STEP
#undef MSL_NEGATED
#undef MSL_INVERTED

/// f over the components, one vector of what it gives.
template <int... I>
struct msl_indices {};
template <int N>
struct msl_up_to;
template <>
struct msl_up_to<2> {
  typedef msl_indices<0, 1> type;
};
template <>
struct msl_up_to<3> {
  typedef msl_indices<0, 1, 2> type;
};
template <>
struct msl_up_to<4> {
  typedef msl_indices<0, 1, 2, 3> type;
};
template <typename F, typename A, int... I>
MSL_FN constexpr auto msl_map1(F f, A a, msl_indices<I...>) {
  return vec<decltype(f(a.x)), sizeof...(I)>(f(a.template component<I>())...);
}
template <typename F, typename A, typename B, int... I>
MSL_FN constexpr auto msl_map2(F f, A a, B b, msl_indices<I...>) {
  return vec<decltype(f(a.x, b.x)), sizeof...(I)>(f(a.template component<I>(), b.template component<I>())...);
}
template <typename F, typename A, typename B, typename C, int... I>
MSL_FN constexpr auto msl_map3(F f, A a, B b, C c, msl_indices<I...>) {
  return vec<decltype(f(a.x, b.x, c.x)), sizeof...(I)>(
      f(a.template component<I>(), b.template component<I>(), c.template component<I>())...);
}
template <typename T, int N, typename F>
MSL_FN constexpr auto msl_map(vec<T, N> a, F f) {
  return msl_map1(f, a, typename msl_up_to<N>::type());
}
template <typename T, typename U, int N, typename F>
MSL_FN constexpr auto msl_map(vec<T, N> a, vec<U, N> b, F f) {
  return msl_map2(f, a, b, typename msl_up_to<N>::type());
}
template <typename T, typename U, typename V, int N, typename F>
MSL_FN constexpr auto msl_map(vec<T, N> a, vec<U, N> b, vec<V, N> c, F f) {
  return msl_map3(f, a, b, c, typename msl_up_to<N>::type());
}
}  // namespace metal
