// Barriers and the functions of simdgroups and quadgroups. Each hands its value to the runtime and reads the other
// lanes' values from what comes back.
namespace metal {
enum class mem_flags : uint {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8,
  mem_object_data = 16
};
MSL_FN constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
MSL_FN constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(uint(a) & uint(b)); }
enum thread_scope {
  thread_scope_thread = 0,
  thread_scope_simdgroup = 4,
  thread_scope_threadgroup = 1,
  thread_scope_device = 2
};
enum memory_order {
  memory_order_relaxed = 0,
#if __METAL_VERSION__ >= 320
  memory_order_acquire = 2,
  memory_order_release = 3,
  memory_order_acq_rel = 4,
  memory_order_seq_cst = 5
#endif
};
MSL_FN void threadgroup_barrier(mem_flags flags) { msl_rt_threadgroup_barrier(uint(flags)); }
MSL_FN void simdgroup_barrier(mem_flags flags) {
  uint f = uint(flags);
  (void)msl_rt_simd(MSL_OP_SIMDGROUP_BARRIER, &f, sizeof f);
}
#if __METAL_VERSION__ >= 320
MSL_FN void threadgroup_barrier(mem_flags flags, thread_scope) { threadgroup_barrier(flags); }
MSL_FN void simdgroup_barrier(mem_flags flags, thread_scope) { simdgroup_barrier(flags); }
#endif

/// Numbers of at most 32 bits and their vectors.
template <typename T>
constexpr __constant bool msl_lane_scalar = (msl_integral<T> || msl_floating<T>)&&!is_same_v<T, bool> &&
                                            !is_same_v<T, bfloat> && sizeof(T) <= 4;
template <typename T, int N>
constexpr __constant bool msl_lane_scalar<vec<T, N>> = msl_lane_scalar<T>;
template <typename T>
constexpr __constant bool msl_lane_integer = msl_integral<T>&& msl_lane_scalar<T>;
template <typename T, int N>
constexpr __constant bool msl_lane_integer<vec<T, N>> = msl_lane_integer<T>;
template <typename T>
using msl_lanes = enable_if_t<msl_lane_scalar<T>, T>;
template <typename T>
using msl_lanes_i = enable_if_t<msl_lane_integer<T>, T>;

template <typename T>
MSL_FN const __private char* msl_hand_in(uint op, T x) {
  static_assert(sizeof(T) <= MSL_SLOT_BYTES, "a simdgroup passes at most 64 bytes a lane");
  return (const __private char*)msl_rt_simd(op, &x, sizeof(T));
}
template <typename T>
MSL_FN T msl_lane(const __private char* slots, uint lane) {
  return *(const __private T*)(slots + MSL_SLOT_BYTES * (lane & (MSL_LANES - 1)));
}
/// Lanes of the quadgroup of this lane, as bits.
MSL_FN uint msl_quad() { return 15u << (msl_rt_lane() & ~3u); }

// Loops over lanes stay functions of their own: kernels call them often.
#define MSL_OUT_OF_LINE inline __attribute__((noinline, nodebug, no_sanitize("thread")))
#define MSL_REDUCE(name, OP, constrained, lanes, expression)             \
  template <typename T>                                                  \
  MSL_OUT_OF_LINE T msl_##name(const __private char* slots, uint left) { \
    T r = msl_lane<T>(slots, uint(__builtin_ctz(left)));                 \
    for (left &= left - 1; left; left &= left - 1) {                     \
      T y = msl_lane<T>(slots, uint(__builtin_ctz(left)));               \
      r = T(expression);                                                 \
    }                                                                    \
    return r;                                                            \
  }                                                                      \
  template <typename T>                                                  \
  MSL_FN constrained<T> name(T x) {                                      \
    auto slots = msl_hand_in(MSL_OP_##OP, x);                            \
    return msl_##name<T>(slots, msl_rt_active() & lanes);                \
  }
#define MSL_SCAN(name, OP, lanes, start, own, expression)                                      \
  template <typename T>                                                                        \
  MSL_OUT_OF_LINE T msl_##name(const __private char* slots, uint left) {                       \
    T r = T(start);                                                                            \
    for (; left; left &= left - 1) {                                                           \
      T y = msl_lane<T>(slots, uint(__builtin_ctz(left)));                                     \
      r = T(expression);                                                                       \
    }                                                                                          \
    return r;                                                                                  \
  }                                                                                            \
  template <typename T>                                                                        \
  MSL_FN msl_lanes<T> name(T x) {                                                              \
    auto slots = msl_hand_in(MSL_OP_##OP, x);                                                  \
    uint me = msl_rt_lane();                                                                   \
    return msl_##name<T>(slots, msl_rt_active() & lanes & ((own ? 2u << me : 1u << me) - 1u)); \
  }
/// Which of the lanes in `left` said true, as bits.
MSL_OUT_OF_LINE uint msl_votes(const __private char* slots, uint left) {
  uint votes = 0;
  for (; left; left &= left - 1) {
    uint lane = uint(__builtin_ctz(left));
    if (msl_lane<uint>(slots, lane)) votes |= 1u << lane;
  }
  return votes;
}
#define MSL_GROUP(prefix, OP, lanes)                                                            \
  MSL_REDUCE(prefix##_sum, OP##_SUM, msl_lanes, lanes, r + y)                                   \
  MSL_REDUCE(prefix##_product, OP##_PRODUCT, msl_lanes, lanes, r* y)                            \
  MSL_REDUCE(prefix##_min, OP##_MIN, msl_lanes, lanes, min(r, y))                               \
  MSL_REDUCE(prefix##_max, OP##_MAX, msl_lanes, lanes, max(r, y))                               \
  MSL_REDUCE(prefix##_and, OP##_AND, msl_lanes_i, lanes, r& y)                                  \
  MSL_REDUCE(prefix##_or, OP##_OR, msl_lanes_i, lanes, r | y)                                   \
  MSL_REDUCE(prefix##_xor, OP##_XOR, msl_lanes_i, lanes, r ^ y)                                 \
  MSL_SCAN(prefix##_prefix_inclusive_sum, OP##_PREFIX_INCLUSIVE_SUM, lanes, 0, 1, r + y)        \
  MSL_SCAN(prefix##_prefix_exclusive_sum, OP##_PREFIX_EXCLUSIVE_SUM, lanes, 0, 0, r + y)        \
  MSL_SCAN(prefix##_prefix_inclusive_product, OP##_PREFIX_INCLUSIVE_PRODUCT, lanes, 1, 1, r* y) \
  MSL_SCAN(prefix##_prefix_exclusive_product, OP##_PREFIX_EXCLUSIVE_PRODUCT, lanes, 1, 0, r* y) \
  template <typename T>                                                                         \
  MSL_FN msl_lanes<T> prefix##_broadcast_first(T x) {                                           \
    auto slots = msl_hand_in(MSL_OP_##OP##_BROADCAST_FIRST, x);                                 \
    return msl_lane<T>(slots, uint(__builtin_ctz(msl_rt_active() & lanes)));                    \
  }                                                                                             \
  MSL_FN bool prefix##_is_first() {                                                             \
    (void)msl_rt_simd(MSL_OP_##OP##_IS_FIRST, 0, 0);                                            \
    return msl_rt_lane() == uint(__builtin_ctz(msl_rt_active() & lanes));                       \
  }                                                                                             \
  MSL_FN bool prefix##_any(bool x) {                                                            \
    auto slots = msl_hand_in(MSL_OP_##OP##_ANY, uint(x));                                       \
    return msl_votes(slots, msl_rt_active() & lanes) != 0;                                      \
  }                                                                                             \
  MSL_FN bool prefix##_all(bool x) {                                                            \
    auto slots = msl_hand_in(MSL_OP_##OP##_ALL, uint(x));                                       \
    uint came = msl_rt_active() & lanes;                                                        \
    return msl_votes(slots, came) == came;                                                      \
  }
MSL_GROUP(simd, SIMD, ~0u)
MSL_GROUP(quad, QUAD, msl_quad())
#undef MSL_GROUP
#undef MSL_REDUCE
#undef MSL_SCAN

/// SIZE lanes from BASE on; `at` is the lane within them.
#define MSL_MOVE(name, OP, SIZE, argument, expression)                        \
  template <typename T>                                                       \
  MSL_FN msl_lanes<T> name(T x, ushort argument) {                            \
    auto slots = msl_hand_in(MSL_OP_##OP, x);                                 \
    uint me = msl_rt_lane(), base = me & ~(SIZE - 1u), at = me & (SIZE - 1u); \
    (void)base, (void)at;                                                     \
    expression                                                                \
  }
#define MSL_GROUP(prefix, OP, SIZE)                                                                           \
  MSL_MOVE(prefix##_broadcast, OP##_BROADCAST, SIZE, k, return msl_lane<T>(slots, base + (k & (SIZE - 1u)));) \
  MSL_MOVE(prefix##_shuffle, OP##_SHUFFLE, SIZE, k, return msl_lane<T>(slots, base + (k & (SIZE - 1u)));)     \
  MSL_MOVE(prefix##_shuffle_xor, OP##_SHUFFLE_XOR, SIZE, k,                                                   \
           return msl_lane<T>(slots, base + ((at ^ k) & (SIZE - 1u)));)                                       \
  MSL_MOVE(prefix##_shuffle_up, OP##_SHUFFLE_UP, SIZE, k, if (at < k) return x;                               \
           return msl_lane<T>(slots, base + at - k);)                                                         \
  MSL_MOVE(prefix##_shuffle_down, OP##_SHUFFLE_DOWN, SIZE, k, if (at + k >= SIZE) return x;                   \
           return msl_lane<T>(slots, base + at + k);)                                                         \
  MSL_MOVE(prefix##_shuffle_rotate_up, OP##_SHUFFLE_ROTATE_UP, SIZE, k,                                       \
           return msl_lane<T>(slots, base + ((at - k) & (SIZE - 1u)));)                                       \
  MSL_MOVE(prefix##_shuffle_rotate_down, OP##_SHUFFLE_ROTATE_DOWN, SIZE, k,                                   \
           return msl_lane<T>(slots, base + ((at + k) & (SIZE - 1u)));)                                       \
  template <typename T>                                                                                       \
  MSL_FN msl_lanes<T> prefix##_shuffle_and_fill_up(T x, T filling, ushort k, ushort modulo = SIZE) {          \
    struct Pair {                                                                                             \
      T a, b;                                                                                                 \
    } both{x, filling};                                                                                       \
    auto slots = msl_hand_in(MSL_OP_##OP##_SHUFFLE_AND_FILL_UP, both);                                        \
    uint me = msl_rt_lane(), at = me % modulo, base = me - at;                                                \
    if (at < k) return msl_lane<Pair>(slots, base + modulo - k + at).b;                                       \
    return msl_lane<Pair>(slots, me - k).a;                                                                   \
  }                                                                                                           \
  template <typename T>                                                                                       \
  MSL_FN msl_lanes<T> prefix##_shuffle_and_fill_down(T x, T filling, ushort k, ushort modulo = SIZE) {        \
    struct Pair {                                                                                             \
      T a, b;                                                                                                 \
    } both{x, filling};                                                                                       \
    auto slots = msl_hand_in(MSL_OP_##OP##_SHUFFLE_AND_FILL_DOWN, both);                                      \
    uint me = msl_rt_lane(), at = me % modulo, base = me - at;                                                \
    if (at + k >= modulo) return msl_lane<Pair>(slots, base + at + k - modulo).b;                             \
    return msl_lane<Pair>(slots, me + k).a;                                                                   \
  }                                                                                                           \
  struct prefix##_vote {                                                                                      \
    typedef ulong vote_t;                                                                                     \
    MSL_FN explicit constexpr prefix##_vote(vote_t v = 0) : v_(v) {}                                          \
    MSL_FN constexpr explicit operator vote_t() const { return v_; }                                          \
    MSL_FN constexpr bool all() const { return v_ == (SIZE == 32 ? 0xfffffffful : 15ul); }                    \
    MSL_FN constexpr bool any() const { return v_ != 0; }                                                     \
                                                                                                              \
   private:                                                                                                   \
    vote_t v_;                                                                                                \
  };                                                                                                          \
  MSL_FN prefix##_vote prefix##_ballot(bool x) {                                                              \
    auto slots = msl_hand_in(MSL_OP_##OP##_BALLOT, uint(x));                                                  \
    uint base = msl_rt_lane() & ~(SIZE - 1u);                                                                 \
    uint votes = msl_votes(slots, msl_rt_active());                                                           \
    return prefix##_vote((votes >> base) & (SIZE == 32 ? ~0u : 15u));                                         \
  }                                                                                                           \
  MSL_FN prefix##_vote prefix##_active_threads_mask() {                                                       \
    (void)msl_rt_simd(MSL_OP_##OP##_ACTIVE_THREADS_MASK, 0, 0);                                               \
    return prefix##_vote((msl_rt_active() >> (msl_rt_lane() & ~(SIZE - 1u))) & (SIZE == 32 ? ~0u : 15u));     \
  }
MSL_GROUP(simd, SIMD, 32u)
MSL_GROUP(quad, QUAD, 4u)
#undef MSL_GROUP
#undef MSL_MOVE
MSL_FN uint get_simdgroup_size() { return MSL_LANES; }
}  // namespace metal
