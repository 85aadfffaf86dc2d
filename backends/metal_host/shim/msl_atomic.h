// Atomics. Memory orders are as strong as the host's sequential order, whatever was asked for.
namespace metal {
/// What bits an atomic of T is exchanged as: float has no instruction of its own.
template <typename T>
struct msl_atomic_bits {
  typedef T type;
};
template <>
struct msl_atomic_bits<float> {
  typedef uint type;
};
template <>
struct msl_atomic_bits<bool> {
  typedef uchar type;
};
template <typename T>
struct atomic {
  static_assert(is_same_v<T, int> || is_same_v<T, uint> || is_same_v<T, bool> || is_same_v<T, float> ||
                    is_same_v<T, ulong>,
                "atomic: int, uint, bool, ulong or float");
  atomic() = default;
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  typename msl_atomic_bits<T>::type bits_;
};
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<bool> atomic_bool;
typedef atomic<float> atomic_float;
typedef atomic<ulong> atomic_ulong;
template <typename T>
constexpr __constant bool msl_atomic_32 = is_same_v<T, int> || is_same_v<T, uint>;
/// T, where no type is to be deduced from it.
template <typename T>
struct msl_same {
  typedef T type;
};
template <typename T>
using msl_same_t = typename msl_same<T>::type;
template <typename T>
MSL_FN typename msl_atomic_bits<T>::type msl_to_bits(T x) {
  return __builtin_bit_cast(typename msl_atomic_bits<T>::type, x);
}

#define MSL_FETCH(as, V, name, condition, expression)                                                              \
  template <typename T, enable_if_t<condition, bool> = true>                                                       \
  MSL_FN T atomic_fetch_##name##_explicit(V as atomic<T>* object, msl_same_t<T> x, memory_order) {                 \
    typedef typename msl_atomic_bits<T>::type Bits;                                                                \
    Bits old = __atomic_load_n(&object->bits_, __ATOMIC_SEQ_CST), next;                                            \
    do {                                                                                                           \
      T r = __builtin_bit_cast(T, old);                                                                            \
      next = msl_to_bits(T(expression));                                                                           \
    } while (!__atomic_compare_exchange_n(&object->bits_, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
    return __builtin_bit_cast(T, old);                                                                             \
  }
#define MSL_ATOMICS(as, V, is_device)                                                                            \
  template <typename T>                                                                                          \
  MSL_FN T atomic_load_explicit(const V as atomic<T>* object, memory_order) {                                    \
    return __builtin_bit_cast(T, __atomic_load_n(&object->bits_, __ATOMIC_SEQ_CST));                             \
  }                                                                                                              \
  template <typename T>                                                                                          \
  MSL_FN void atomic_store_explicit(V as atomic<T>* object, msl_same_t<T> x, memory_order) {                     \
    __atomic_store_n(&object->bits_, msl_to_bits(x), __ATOMIC_SEQ_CST);                                          \
  }                                                                                                              \
  template <typename T>                                                                                          \
  MSL_FN T atomic_exchange_explicit(V as atomic<T>* object, msl_same_t<T> x, memory_order) {                     \
    return __builtin_bit_cast(T, __atomic_exchange_n(&object->bits_, msl_to_bits(x), __ATOMIC_SEQ_CST));         \
  }                                                                                                              \
  template <typename T>                                                                                          \
  MSL_FN bool atomic_compare_exchange_weak_explicit(V as atomic<T>* object, __private T* expected,               \
                                                    msl_same_t<T> desired, memory_order, memory_order) {         \
    auto old = msl_to_bits(*expected);                                                                           \
    bool done = __atomic_compare_exchange_n(&object->bits_, &old, msl_to_bits(desired), false, __ATOMIC_SEQ_CST, \
                                            __ATOMIC_SEQ_CST);                                                   \
    *expected = __builtin_bit_cast(T, old);                                                                      \
    return done;                                                                                                 \
  }                                                                                                              \
  MSL_FETCH(as, V, add, msl_atomic_32<T> || (is_device && is_same_v<T, float>), r + x)                           \
  MSL_FETCH(as, V, sub, msl_atomic_32<T> || (is_device && is_same_v<T, float>), r - x)                           \
  MSL_FETCH(as, V, and, msl_atomic_32<T>, r& x)                                                                  \
  MSL_FETCH(as, V, or, msl_atomic_32<T>, r | x)                                                                  \
  MSL_FETCH(as, V, xor, msl_atomic_32<T>, r ^ x)                                                                 \
  MSL_FETCH(as, V, min, msl_atomic_32<T>, (x < r ? x : r))                                                       \
  MSL_FETCH(as, V, max, msl_atomic_32<T>, (r < x ? x : r))
MSL_ATOMICS(__global, , true)
MSL_ATOMICS(__global, volatile, true)
MSL_ATOMICS(__local, , false)
MSL_ATOMICS(__local, volatile, false)
#undef MSL_ATOMICS
#undef MSL_FETCH
#define MSL_X(name, less)                                                                                      \
  MSL_FN void atomic_##name##_explicit(__global atomic_ulong* object, ulong x, memory_order) {                 \
    ulong old = __atomic_load_n(&object->bits_, __ATOMIC_SEQ_CST);                                             \
    while (x less old &&                                                                                       \
           !__atomic_compare_exchange_n(&object->bits_, &old, x, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) { \
    }                                                                                                          \
  }
MSL_X(min, <)
MSL_X(max, >)
#undef MSL_X
#if __METAL_VERSION__ >= 320
MSL_FN void atomic_thread_fence(mem_flags, memory_order, thread_scope = thread_scope_device) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#endif
}  // namespace metal
