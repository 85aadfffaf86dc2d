// Functions of integers and their vectors. One overload a type: a call that mixes two types is ambiguous, as it should
// be.
namespace metal {
#define MSL_I1(name, ...)                                                                        \
  template <typename T, int N, enable_if_t<msl_integral<T> && !is_same_v<T, bool>, bool> = true> \
  MSL_FN vec<__VA_ARGS__, N> name(vec<T, N> v) {                                                 \
    return msl_map(v, [](T a) { return name(a); });                                              \
  }
#define MSL_I2(name)                                                                             \
  template <typename T, int N, enable_if_t<msl_integral<T> && !is_same_v<T, bool>, bool> = true> \
  MSL_FN vec<T, N> name(vec<T, N> v, vec<T, N> w) {                                              \
    return msl_map(v, w, [](T a, T b) { return name(a, b); });                                   \
  }
#define MSL_I3(name)                                                                             \
  template <typename T, int N, enable_if_t<msl_integral<T> && !is_same_v<T, bool>, bool> = true> \
  MSL_FN vec<T, N> name(vec<T, N> u, vec<T, N> v, vec<T, N> w) {                                 \
    return msl_map(u, v, w, [](T a, T b, T c) { return name(a, b, c); });                        \
  }
template <typename T>
MSL_FN constexpr T msl_saturated(__int128 x) {
  return x < __int128(numeric_limits<T>::min())   ? numeric_limits<T>::min()
         : x > __int128(numeric_limits<T>::max()) ? numeric_limits<T>::max()
                                                  : T(x);
}
#define MSL_X(t)                                                                                                      \
  MSL_FN constexpr t min(t a, t b) { return b < a ? b : a; }                                                          \
  MSL_FN constexpr t max(t a, t b) { return a < b ? b : a; }                                                          \
  MSL_FN constexpr t min3(t a, t b, t c) { return min(min(a, b), c); }                                                \
  MSL_FN constexpr t max3(t a, t b, t c) { return max(max(a, b), c); }                                                \
  MSL_FN constexpr t median3(t a, t b, t c) { return max(min(a, b), min(max(a, b), c)); }                             \
  MSL_FN constexpr t clamp(t x, t low, t high) { return min(max(x, low), high); }                                     \
  MSL_FN constexpr t abs(t x) { return x < 0 ? t(-x) : x; }                                                           \
  MSL_FN constexpr make_unsigned_t<t> absdiff(t a, t b) {                                                             \
    typedef make_unsigned_t<t> u;                                                                                     \
    return a < b ? u(u(b) - u(a)) : u(u(a) - u(b));                                                                   \
  }                                                                                                                   \
  MSL_FN constexpr t addsat(t a, t b) { return msl_saturated<t>(__int128(a) + __int128(b)); }                         \
  MSL_FN constexpr t subsat(t a, t b) { return msl_saturated<t>(__int128(a) - __int128(b)); }                         \
  MSL_FN constexpr t hadd(t a, t b) { return t((__int128(a) + __int128(b)) >> 1); }                                   \
  MSL_FN constexpr t rhadd(t a, t b) { return t((__int128(a) + __int128(b) + 1) >> 1); }                              \
  MSL_FN constexpr t mulhi(t a, t b) { return t((__int128(a) * __int128(b)) >> (sizeof(t) * 8)); }                    \
  MSL_FN constexpr t madhi(t a, t b, t c) { return t(mulhi(a, b) + c); }                                              \
  MSL_FN constexpr t madsat(t a, t b, t c) { return msl_saturated<t>(__int128(a) * __int128(b) + __int128(c)); }      \
  MSL_FN constexpr t popcount(t x) { return t(__builtin_popcountl(ulong(make_unsigned_t<t>(x)))); }                   \
  MSL_FN constexpr t clz(t x) {                                                                                       \
    return x == 0 ? t(sizeof(t) * 8) : t(__builtin_clzl(ulong(make_unsigned_t<t>(x))) - (64 - int(sizeof(t)) * 8));   \
  }                                                                                                                   \
  MSL_FN constexpr t ctz(t x) { return x == 0 ? t(sizeof(t) * 8) : t(__builtin_ctzl(ulong(make_unsigned_t<t>(x)))); } \
  MSL_FN constexpr t rotate(t x, t by) {                                                                              \
    typedef make_unsigned_t<t> u;                                                                                     \
    uint n = uint(by) & (sizeof(t) * 8 - 1);                                                                          \
    return n == 0 ? x : t(u(u(u(x) << n) | u(u(x) >> (sizeof(t) * 8 - n))));                                          \
  }                                                                                                                   \
  MSL_FN constexpr t reverse_bits(t x) {                                                                              \
    return t(make_unsigned_t<t>(__builtin_bitreverse64(ulong(make_unsigned_t<t>(x))) >> (64 - sizeof(t) * 8)));       \
  }                                                                                                                   \
  MSL_FN constexpr t extract_bits(t x, uint offset, uint bits) {                                                      \
    return bits == 0 ? t(0)                                                                                           \
                     : t(t(make_unsigned_t<t>(x) << (sizeof(t) * 8 - offset - bits)) >> (sizeof(t) * 8 - bits));      \
  }                                                                                                                   \
  MSL_FN constexpr t insert_bits(t base, t insert, uint offset, uint bits) {                                          \
    typedef make_unsigned_t<t> u;                                                                                     \
    u mask = bits == 0 ? u(0) : u(u(u(~u(0)) >> (sizeof(t) * 8 - bits)) << offset);                                   \
    return t(u((u(base) & u(~mask)) | (u(u(insert) << offset) & mask)));                                              \
  }
MSL_INTEGERS(MSL_X)
#undef MSL_X
MSL_FN constexpr int mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
MSL_FN constexpr uint mul24(uint a, uint b) { return (a & 0xffffffu) * (b & 0xffffffu); }
MSL_FN constexpr int mad24(int a, int b, int c) { return mul24(a, b) + c; }
MSL_FN constexpr uint mad24(uint a, uint b, uint c) { return mul24(a, b) + c; }
MSL_I1(abs, T)
MSL_I1(popcount, T)
MSL_I1(clz, T)
MSL_I1(ctz, T)
MSL_I1(reverse_bits, T)
MSL_I2(min)
MSL_I2(max)
MSL_I2(absdiff)
MSL_I2(addsat)
MSL_I2(subsat)
MSL_I2(hadd)
MSL_I2(rhadd)
MSL_I2(mulhi)
MSL_I2(rotate)
MSL_I3(min3)
MSL_I3(max3)
MSL_I3(median3)
MSL_I3(clamp)
MSL_I3(madhi)
MSL_I3(madsat)
template <typename T, int N, enable_if_t<msl_integral<T> && !is_same_v<T, bool>, bool> = true>
MSL_FN vec<T, N> min(vec<T, N> v, T w) {
  return min(v, vec<T, N>(w));
}
template <typename T, int N, enable_if_t<msl_integral<T> && !is_same_v<T, bool>, bool> = true>
MSL_FN vec<T, N> max(vec<T, N> v, T w) {
  return max(v, vec<T, N>(w));
}
template <typename T, int N, enable_if_t<msl_integral<T> && !is_same_v<T, bool>, bool> = true>
MSL_FN vec<T, N> clamp(vec<T, N> v, T low, T high) {
  return clamp(v, vec<T, N>(low), vec<T, N>(high));
}
template <typename T, int N, enable_if_t<msl_integral<T> && !is_same_v<T, bool>, bool> = true>
MSL_FN vec<T, N> extract_bits(vec<T, N> v, uint offset, uint bits) {
  vec<T, N> r;
  for (int i = 0; i < N; ++i) r.v_[i] = extract_bits(v.v_[i], offset, bits);
  return r;
}
#undef MSL_I1
#undef MSL_I2
#undef MSL_I3
}  // namespace metal
