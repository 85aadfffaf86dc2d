// Scalar types, type traits and numeric_limits.
typedef signed char msl_schar;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
typedef ulong uintptr_t;
typedef long intptr_t;

namespace metal {
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::ptrdiff_t;
using ::size_t;
using ::uchar;
using ::uint;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
using ::ulong;
using ::ushort;
typedef __bf16 bfloat;
typedef half float16_t;
typedef float float32_t;

template <typename T, T v>
struct integral_constant {
  static constexpr __constant T value = v;
  typedef T value_type;
  typedef integral_constant type;
  constexpr operator T() const { return v; }
  constexpr T operator()() const { return v; }
};
template <bool B>
using bool_constant = integral_constant<bool, B>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;

template <bool C, typename T = void>
struct enable_if {};
template <typename T>
struct enable_if<true, T> {
  typedef T type;
};
template <bool C, typename T = void>
using enable_if_t = typename enable_if<C, T>::type;
template <bool C, typename A, typename B>
struct conditional {
  typedef A type;
};
template <typename A, typename B>
struct conditional<false, A, B> {
  typedef B type;
};
template <bool C, typename A, typename B>
using conditional_t = typename conditional<C, A, B>::type;

template <typename T>
struct remove_const {
  typedef T type;
};
template <typename T>
struct remove_const<const T> {
  typedef T type;
};
template <typename T>
struct remove_volatile {
  typedef T type;
};
template <typename T>
struct remove_volatile<volatile T> {
  typedef T type;
};
template <typename T>
using remove_const_t = typename remove_const<T>::type;
template <typename T>
using remove_volatile_t = typename remove_volatile<T>::type;
template <typename T>
struct remove_cv {
  typedef remove_const_t<remove_volatile_t<T>> type;
};
template <typename T>
using remove_cv_t = typename remove_cv<T>::type;
template <typename T>
struct remove_addrspace {
  typedef T type;
};
template <typename T>
struct remove_reference {
  typedef T type;
};
template <typename T>
struct remove_pointer {
  typedef T type;
};
template <typename T>
struct is_pointer_plain {
  static constexpr __constant bool value = false;
};
template <typename T>
struct is_reference_plain {
  static constexpr __constant bool value = false;
};
#define MSL_SPACE(as)                              \
  template <typename T>                            \
  struct remove_addrspace<as T> {                  \
    typedef T type;                                \
  };                                               \
  template <typename T>                            \
  struct remove_reference<as T&> {                 \
    typedef as T type;                             \
  };                                               \
  template <typename T>                            \
  struct remove_reference<as T&&> {                \
    typedef as T type;                             \
  };                                               \
  template <typename T>                            \
  struct remove_pointer<as T*> {                   \
    typedef as T type;                             \
  };                                               \
  template <typename T>                            \
  struct is_pointer_plain<as T*> {                 \
    static constexpr __constant bool value = true; \
  };                                               \
  template <typename T>                            \
  struct is_reference_plain<as T&> {               \
    static constexpr __constant bool value = true; \
  };
MSL_SPACE(__private)
MSL_SPACE(__global)
MSL_SPACE(__local)
MSL_SPACE(__constant)
#undef MSL_SPACE
template <typename T>
struct remove_addrspace<__generic T> {
  typedef T type;
};
template <typename T>
struct remove_reference<__generic T&> {
  typedef T type;
};
template <typename T>
struct remove_reference<__generic T&&> {
  typedef T type;
};
template <typename T>
struct remove_pointer<__generic T*> {
  typedef T type;
};
template <typename T>
struct is_pointer_plain<__generic T*> {
  static constexpr __constant bool value = true;
};
template <typename T>
struct is_reference_plain<__generic T&> {
  static constexpr __constant bool value = true;
};
template <typename T>
using remove_addrspace_t = typename remove_addrspace<T>::type;
template <typename T>
using remove_reference_t = typename remove_reference<T>::type;
template <typename T>
using remove_pointer_t = typename remove_pointer<T>::type;
template <typename T>
struct decay {
  typedef remove_cv_t<remove_addrspace_t<remove_cv_t<remove_reference_t<T>>>> type;
};
template <typename T>
using decay_t = typename decay<T>::type;
template <typename T>
using msl_plain = remove_cv_t<remove_addrspace_t<remove_cv_t<T>>>;
template <typename T>
struct add_const {
  typedef const T type;
};
template <typename T>
using add_const_t = const T;
template <typename T>
T declval();

#define MSL_TRAIT(name, ...)                        \
  template <typename T>                             \
  constexpr __constant bool name##_v = __VA_ARGS__; \
  template <typename T>                             \
  struct name : bool_constant<name##_v<T>> {};
template <typename A, typename B>
constexpr __constant bool is_same_v = __is_same(A, B);
template <typename A, typename B>
struct is_same : bool_constant<__is_same(A, B)> {};
template <typename A, typename B>
constexpr __constant bool is_convertible_v = __is_convertible_to(A, B);
template <typename A, typename B>
struct is_convertible : bool_constant<__is_convertible_to(A, B)> {};
template <typename A, typename B>
constexpr __constant bool is_base_of_v = __is_base_of(A, B);
template <typename A, typename B>
struct is_base_of : bool_constant<__is_base_of(A, B)> {};

template <typename T>
constexpr __constant bool msl_integral = false;
template <typename T>
constexpr __constant bool msl_floating = false;
#define MSL_INTEGERS(X) X(char) X(msl_schar) X(uchar) X(short) X(ushort) X(int) X(uint) X(long) X(ulong)
#define MSL_X(t) \
  template <>    \
  constexpr __constant bool msl_integral<t> = true;
MSL_INTEGERS(MSL_X)
MSL_X(bool)
#undef MSL_X
#define MSL_X(t) \
  template <>    \
  constexpr __constant bool msl_floating<t> = true;
MSL_X(float)
MSL_X(half)
MSL_X(bfloat)
#undef MSL_X
MSL_TRAIT(is_integral, msl_integral<msl_plain<T>>)
MSL_TRAIT(is_floating_point, msl_floating<msl_plain<T>>)
MSL_TRAIT(is_arithmetic, msl_integral<msl_plain<T>> || msl_floating<msl_plain<T>>)
MSL_TRAIT(is_enum, __is_enum(T))
MSL_TRAIT(is_class, __is_class(T))
MSL_TRAIT(is_union, __is_union(T))
MSL_TRAIT(is_trivial, __is_trivial(T))
MSL_TRAIT(is_trivially_copyable, __is_trivially_copyable(T))
MSL_TRAIT(is_void, __is_same(remove_cv_t<T>, void))
MSL_TRAIT(is_const, !__is_same(T, remove_const_t<T>))
MSL_TRAIT(is_pointer, is_pointer_plain<remove_cv_t<T>>::value)
MSL_TRAIT(is_reference, is_reference_plain<T>::value)
MSL_TRAIT(is_scalar, is_arithmetic_v<T> || __is_enum(T) || is_pointer_plain<remove_cv_t<T>>::value)
MSL_TRAIT(is_signed, msl_floating<msl_plain<T>> || __is_signed(msl_plain<T>))
MSL_TRAIT(is_unsigned, __is_unsigned(msl_plain<T>))
#undef MSL_TRAIT
template <typename T>
struct make_unsigned {
  typedef __make_unsigned(T) type;
};
template <typename T>
struct make_signed {
  typedef __make_signed(T) type;
};
template <typename T>
using make_unsigned_t = typename make_unsigned<T>::type;
template <typename T>
using make_signed_t = typename make_signed<T>::type;
template <typename...>
struct conjunction : true_type {};
template <typename A, typename... R>
struct conjunction<A, R...> : bool_constant<A::value && conjunction<R...>::value> {};
template <typename...>
struct disjunction : false_type {};
template <typename A, typename... R>
struct disjunction<A, R...> : bool_constant<A::value || disjunction<R...>::value> {};
template <typename A>
struct negation : bool_constant<!A::value> {};
template <typename... T>
using _disjunction = disjunction<T...>;
template <typename... T>
using _conjunction = conjunction<T...>;

template <typename T>
struct numeric_limits {
  static constexpr __constant bool is_specialized = false;
};
#define MSL_LIMITS(t, low, high)                                                                           \
  template <>                                                                                              \
  struct numeric_limits<t> {                                                                               \
    static constexpr __constant bool is_specialized = true;                                                \
    static constexpr __constant bool is_integer = true;                                                    \
    static constexpr __constant bool is_signed = __is_signed(t);                                           \
    static constexpr __constant bool is_exact = true;                                                      \
    static constexpr __constant bool has_infinity = false;                                                 \
    static constexpr __constant bool has_quiet_NaN = false;                                                \
    static constexpr __constant int digits = __is_same(t, bool) ? 1 : int(sizeof(t)) * 8 - __is_signed(t); \
    static constexpr __constant int radix = 2;                                                             \
    static constexpr t min() { return low; }                                                               \
    static constexpr t max() { return high; }                                                              \
    static constexpr t lowest() { return low; }                                                            \
    static constexpr t epsilon() { return 0; }                                                             \
    static constexpr t infinity() { return 0; }                                                            \
    static constexpr t quiet_NaN() { return 0; }                                                           \
  };
MSL_LIMITS(bool, false, true)
MSL_LIMITS(char, -128, 127)
MSL_LIMITS(signed char, -128, 127)
MSL_LIMITS(uchar, 0, 255)
MSL_LIMITS(short, SHRT_MIN, SHRT_MAX)
MSL_LIMITS(ushort, 0, 65535)
MSL_LIMITS(int, INT_MIN, INT_MAX)
MSL_LIMITS(uint, 0, UINT_MAX)
MSL_LIMITS(long, LONG_MIN, LONG_MAX)
MSL_LIMITS(ulong, 0, ULONG_MAX)
#undef MSL_LIMITS
#define MSL_LIMITS(t, mantissa, low, high, eps, denormal)                \
  template <>                                                            \
  struct numeric_limits<t> {                                             \
    static constexpr __constant bool is_specialized = true;              \
    static constexpr __constant bool is_integer = false;                 \
    static constexpr __constant bool is_signed = true;                   \
    static constexpr __constant bool is_exact = false;                   \
    static constexpr __constant bool has_infinity = true;                \
    static constexpr __constant bool has_quiet_NaN = true;               \
    static constexpr __constant int digits = mantissa;                   \
    static constexpr __constant int radix = 2;                           \
    static constexpr t min() { return t(low); }                          \
    static constexpr t max() { return t(high); }                         \
    static constexpr t lowest() { return t(-high); }                     \
    static constexpr t epsilon() { return t(eps); }                      \
    static constexpr t denorm_min() { return t(denormal); }              \
    static constexpr t infinity() { return t(__builtin_inff()); }        \
    static constexpr t quiet_NaN() { return t(__builtin_nanf("")); }     \
    static constexpr t signaling_NaN() { return t(__builtin_nanf("")); } \
  };
MSL_LIMITS(float, 24, 0x1p-126f, 0x1.fffffep127f, 0x1p-23f, 0x1p-149f)
MSL_LIMITS(half, 11, 0x1p-14f, 65504.0f, 0x1p-10f, 0x1p-24f)
MSL_LIMITS(bfloat, 8, 0x1p-126f, 0x1.fep127f, 0x1p-7f, 0x1p-133f)
#undef MSL_LIMITS

template <typename T>
constexpr MSL_FN remove_reference_t<T>&& move(T&& x) {
  return static_cast<remove_reference_t<T>&&>(x);
}
}  // namespace metal
