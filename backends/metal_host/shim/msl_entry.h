// Binding of a kernel's parameters to the runtime's context. A type that an attribute does not take has no msl_bind.
#include <msl_info.h>
enum msl_kind {
  msl_k_buffer,
  msl_k_threadgroup,
#define MSL_X(name) msl_k_##name,
#define MSL_VECTOR_ATTRIBUTES(X)    \
  X(thread_position_in_grid)        \
  X(thread_position_in_threadgroup) \
  X(threadgroup_position_in_grid)   \
  X(threads_per_threadgroup)        \
  X(dispatch_threads_per_threadgroup) X(threads_per_grid) X(threadgroups_per_grid) X(grid_origin)
#define MSL_SCALAR_ATTRIBUTES(X)         \
  X(thread_index_in_threadgroup)         \
  X(thread_index_in_simdgroup)           \
  X(simdgroup_index_in_threadgroup)      \
  X(simdgroups_per_threadgroup)          \
  X(dispatch_simdgroups_per_threadgroup) \
  X(threads_per_simdgroup)               \
  X(thread_index_in_quadgroup)           \
  X(quadgroup_index_in_threadgroup) X(quadgroups_per_threadgroup) X(dispatch_quadgroups_per_threadgroup)
  MSL_VECTOR_ATTRIBUTES(MSL_X) MSL_SCALAR_ATTRIBUTES(MSL_X)
#undef MSL_X
};
template <typename T>
constexpr __constant bool msl_never = false;
/// Takes its parameter from the context; `Kind` and `Index` say from where.
template <typename T, msl_kind Kind, int Index>
struct msl_bind {
  static_assert(msl_never<T>, "the type of a kernel's parameter does not fit its attribute");
  static T get(const __private msl_context& c);
};
#define MSL_X(as, kind, field)                                                      \
  template <typename T, int I>                                                      \
  struct msl_bind<as T*, kind, I> {                                                 \
    static as T* get(const __private msl_context& c) { return (as T*)c.field[I]; }  \
  };                                                                                \
  template <typename T, int I>                                                      \
  struct msl_bind<as T&, kind, I> {                                                 \
    static as T& get(const __private msl_context& c) { return *(as T*)c.field[I]; } \
  };
MSL_X(__global, msl_k_buffer, buffer)
MSL_X(__constant, msl_k_buffer, buffer)
MSL_X(__local, msl_k_threadgroup, threadgroup)
#undef MSL_X
#define MSL_TYPES(X, name) X(name, uint) X(name, ushort)
#define MSL_Y(name, t)                                                                                         \
  template <int I>                                                                                             \
  struct msl_bind<t, msl_k_##name, I> {                                                                        \
    static t get(const __private msl_context& c) { return t(c.name[0]); }                                      \
  };                                                                                                           \
  template <int I>                                                                                             \
  struct msl_bind<t##2, msl_k_##name, I> {                                                                     \
    static t##2 get(const __private msl_context& c) { return t##2(t(c.name[0]), t(c.name[1])); }               \
  };                                                                                                           \
  template <int I>                                                                                             \
  struct msl_bind<t##3, msl_k_##name, I> {                                                                     \
    static t##3 get(const __private msl_context& c) { return t##3(t(c.name[0]), t(c.name[1]), t(c.name[2])); } \
  };
#define MSL_X(name) MSL_TYPES(MSL_Y, name)
MSL_VECTOR_ATTRIBUTES(MSL_X)
#undef MSL_Y
#define MSL_Y(name, t)                                                 \
  template <int I>                                                     \
  struct msl_bind<t, msl_k_##name, I> {                                \
    static t get(const __private msl_context& c) { return t(c.name); } \
  };
MSL_SCALAR_ATTRIBUTES(MSL_X)
#undef MSL_Y
#undef MSL_X
#undef MSL_TYPES

template <msl_kind Kind, int Index>
struct msl_at {};
template <typename... At, typename... A>
MSL_FN void msl_call(void (*f)(A...), const __private msl_context& c);
template <typename A, typename At>
struct msl_binding;
template <typename A, msl_kind Kind, int Index>
struct msl_binding<A, msl_at<Kind, Index>> : msl_bind<metal::remove_cv_t<A>, Kind, Index> {};
template <typename... At, typename... A>
MSL_FN void msl_call(void (*f)(A...), const __private msl_context& c) {
  static_assert(sizeof...(At) == sizeof...(A), "a kernel's parameters are not those of its template");
  f(msl_binding<A, At>::get(c)...);
}

template <typename T>
constexpr __constant uint msl_space = 0;
template <typename T>
constexpr __constant uint msl_space<__global T> = 1;
template <typename T>
constexpr __constant uint msl_space<__constant T> = 2;
template <typename T>
constexpr __constant uint msl_space<__local T> = 3;
template <typename T>
constexpr __constant uint msl_scalar = metal::is_same_v<T, bool>            ? 1
                                       : metal::is_same_v<T, metal::bfloat> ? 5
                                       : metal::msl_floating<T>             ? 4
                                       : !metal::msl_integral<T>            ? 0
                                       : metal::is_signed_v<T>              ? 2
                                                                            : 3;
template <typename T, int N>
constexpr __constant uint msl_scalar<metal::vec<T, N>> = msl_scalar<T>;
template <typename T, int N>
constexpr __constant uint msl_scalar<metal::packed_vec<T, N>> = msl_scalar<T>;
template <typename T>
constexpr __constant uint msl_scalar<metal::atomic<T>> = msl_scalar<T>;
template <typename T>
constexpr __constant uint msl_width = 1;
template <typename T, int N>
constexpr __constant uint msl_width<metal::vec<T, N>> = N;
template <typename T, int N>
constexpr __constant uint msl_width<metal::packed_vec<T, N>> = N;
template <typename T>
constexpr msl_info msl_describe() {
  typedef metal::remove_pointer_t<metal::remove_reference_t<metal::remove_cv_t<T>>> Element;
  typedef metal::msl_plain<Element> Plain;
  constexpr uint space = msl_space<Element>;
  uint bytes = 0, align = 1;
  if constexpr (!metal::is_void_v<Plain>) {
    bytes = sizeof(Plain);
    align = alignof(Plain);
  }
  return msl_info{space,
                  space == 2 || metal::is_const_v<metal::remove_addrspace_t<Element>> || metal::is_const_v<Element>,
                  metal::is_pointer_v<T>,
                  msl_scalar<Plain>,
                  msl_width<Plain>,
                  bytes,
                  align};
}
template <int I, typename F>
struct msl_parameter;
template <typename A, typename... R>
struct msl_parameter<0, void(A, R...)> {
  typedef A type;
};
template <int I, typename A, typename... R>
struct msl_parameter<I, void(A, R...)> : msl_parameter<I - 1, void(R...)> {};
#define MSL_INFO(i, ...) msl_describe<typename msl_parameter<i, __VA_ARGS__>::type>()
