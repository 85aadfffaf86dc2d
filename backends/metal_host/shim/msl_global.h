// What stands outside namespace metal: names of types, as_type, and what lowered text calls.
#define MSL_X(t)              \
  using metal::t##2;          \
  using metal::t##3;          \
  using metal::t##4;          \
  using metal::packed_##t##2; \
  using metal::packed_##t##3; \
  using metal::packed_##t##4;
MSL_NAMES(MSL_X)
#undef MSL_X
using metal::bfloat;
using metal::uniform;
using metal::vec;
template <typename To, typename From>
MSL_FN constexpr To as_type(From x) {
  static_assert(sizeof(To) == sizeof(From), "as_type: the types differ in size");
  return __builtin_bit_cast(To, x);
}
namespace metal {
using ::as_type;
}  // namespace metal
/// A copy: clang's ?: wants both sides in one address space.
template <typename T>
MSL_FN constexpr T msl_value(T x) {
  return x;
}
/// static_cast, with the conversions between half and bfloat that the language allows when they are written.
template <typename To, typename From>
MSL_FN constexpr To msl_cast(From x) {
  if constexpr ((metal::is_same_v<To, metal::bfloat> && metal::is_same_v<From, half>) ||
                (metal::is_same_v<To, half> && metal::is_same_v<From, metal::bfloat>))
    return static_cast<To>(static_cast<float>(x));
  else
    return static_cast<To>(x);
}
template <typename To>
MSL_FN constexpr To msl_cast() {
  return To();
}
/// clang finds no builtin `pointer += integer-like object` for lvalues in an address space.
#define MSL_POINTER(as)                                                             \
  template <typename T, typename U, metal::enable_if_t<__is_class(U), bool> = true> \
  MSL_FN as T* __private& operator+=(as T* __private& p, U by) {                    \
    p = p + static_cast<long>(by);                                                  \
    return p;                                                                       \
  }
MSL_POINTER(__global)
MSL_POINTER(__local)
MSL_POINTER(__constant)
MSL_POINTER(__private)
#undef MSL_POINTER
