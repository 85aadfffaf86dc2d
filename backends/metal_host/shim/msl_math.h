// Functions of float, half and their vectors. f32 is libm's; half is computed in f32 and rounded once.
extern "C" {
float acosf(float);
float acoshf(float);
float asinf(float);
float asinhf(float);
float atanf(float);
float atan2f(float, float);
float atanhf(float);
float cosf(float);
float coshf(float);
float expf(float);
float exp2f(float);
float exp10f(float);
float fdimf(float, float);
float fmodf(float, float);
float frexpf(float, __private int*);
int ilogbf(float);
float ldexpf(float, int);
float logf(float);
float log2f(float);
float log10f(float);
float modff(float, __private float*);
float nextafterf(float, float);
float powf(float, float);
float roundf(float);
float sinf(float);
float sinhf(float);
float tanf(float);
float tanhf(float);
}
// An instruction or two each where the processor has them; else the compiler calls libm.
MSL_FN float ceilf(float x) { return __builtin_ceilf(x); }
MSL_FN float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
MSL_FN float fabsf(float x) { return __builtin_fabsf(x); }
MSL_FN float floorf(float x) { return __builtin_floorf(x); }
MSL_FN float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
MSL_FN float fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
MSL_FN float fminf(float x, float y) { return __builtin_fminf(x, y); }
MSL_FN float rintf(float x) { return __builtin_rintf(x); }
MSL_FN float sqrtf(float x) { return __builtin_sqrtf(x); }
MSL_FN float truncf(float x) { return __builtin_truncf(x); }
namespace metal {
MSL_FN float msl_rsqrt(float x) { return 1.0f / sqrtf(x); }
MSL_FN float msl_fract(float x) { return fminf(x - floorf(x), 0x1.fffffep-1f); }
MSL_FN float msl_reduced(float x) { return x - 2.0f * rintf(x * 0.5f); }
MSL_FN float msl_sinpi(float x) { return sinf(M_PI_F * msl_reduced(x)); }
MSL_FN float msl_cospi(float x) { return cosf(M_PI_F * msl_reduced(x)); }
MSL_FN float msl_tanpi(float x) { return tanf(M_PI_F * msl_reduced(x)); }
MSL_FN float msl_saturate(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
MSL_FN float msl_sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x == 0.0f ? x : 0.0f; }
MSL_FN float msl_divide(float x, float y) { return x / y; }
MSL_FN float msl_median3(float x, float y, float z) { return fmaxf(fminf(x, y), fminf(fmaxf(x, y), z)); }
MSL_FN float msl_min3(float x, float y, float z) { return fminf(fminf(x, y), z); }
MSL_FN float msl_max3(float x, float y, float z) { return fmaxf(fmaxf(x, y), z); }
MSL_FN float msl_clamp(float x, float low, float high) { return fminf(fmaxf(x, low), high); }
MSL_FN float msl_mix(float x, float y, float a) { return x + (y - x) * a; }
MSL_FN float msl_step(float edge, float x) { return x < edge ? 0.0f : 1.0f; }
MSL_FN float msl_smoothstep(float a, float b, float x) {
  float t = msl_saturate((x - a) / (b - a));
  return t * t * (3.0f - 2.0f * t);
}

#define MSL_F1(name, f)                                          \
  MSL_FN float name(float x) { return f(x); }                    \
  MSL_FN half name(half x) { return half(f(float(x))); }         \
  template <int N>                                               \
  MSL_FN vec<float, N> name(vec<float, N> x) {                   \
    return msl_map(x, [](float a) { return f(a); });             \
  }                                                              \
  template <int N>                                               \
  MSL_FN vec<half, N> name(vec<half, N> x) {                     \
    return msl_map(x, [](half a) { return half(f(float(a))); }); \
  }
#define MSL_V2(name, t, f)                                                   \
  template <int N>                                                           \
  MSL_FN vec<t, N> name(vec<t, N> x, vec<t, N> y) {                          \
    return msl_map(x, y, [](t a, t b) { return t(f(float(a), float(b))); }); \
  }                                                                          \
  template <int N>                                                           \
  MSL_FN vec<t, N> name(vec<t, N> x, t y) {                                  \
    return name(x, vec<t, N>(y));                                            \
  }                                                                          \
  template <int N>                                                           \
  MSL_FN vec<t, N> name(t x, vec<t, N> y) {                                  \
    return name(vec<t, N>(x), y);                                            \
  }
#define MSL_F2(name, f)                                                    \
  MSL_FN float name(float x, float y) { return f(x, y); }                  \
  MSL_FN half name(half x, half y) { return half(f(float(x), float(y))); } \
  MSL_V2(name, float, f)                                                   \
  MSL_V2(name, half, f)
#define MSL_V3_MIXED(name, t)                            \
  template <int N>                                       \
  MSL_FN vec<t, N> name(vec<t, N> x, t y, t z) {         \
    return name(x, vec<t, N>(y), vec<t, N>(z));          \
  }                                                      \
  template <int N>                                       \
  MSL_FN vec<t, N> name(vec<t, N> x, vec<t, N> y, t z) { \
    return name(x, y, vec<t, N>(z));                     \
  }                                                      \
  template <int N>                                       \
  MSL_FN vec<t, N> name(t x, t y, vec<t, N> z) {         \
    return name(vec<t, N>(x), vec<t, N>(y), z);          \
  }
#define MSL_V3(name, t, f)                                                                     \
  template <int N>                                                                             \
  MSL_FN vec<t, N> name(vec<t, N> x, vec<t, N> y, vec<t, N> z) {                               \
    return msl_map(x, y, z, [](t a, t b, t c) { return t(f(float(a), float(b), float(c))); }); \
  }                                                                                            \
  MSL_V3_MIXED(name, t)
#define MSL_FMA                                                                                                       \
  MSL_FN float fma(float x, float y, float z) { return fmaf(x, y, z); }                                               \
  MSL_FN half fma(half x, half y, half z) { return half(fmaf(float(x), float(y), float(z))); }                        \
  template <int N>                                                                                                    \
  MSL_FN vec<float, N> fma(vec<float, N> x, vec<float, N> y, vec<float, N> z) {                                       \
    typedef msl_native<float, N> Native;                                                                              \
    return __builtin_bit_cast(vec<float, N>,                                                                          \
                              __builtin_elementwise_fma(__builtin_bit_cast(Native, x), __builtin_bit_cast(Native, y), \
                                                        __builtin_bit_cast(Native, z)));                              \
  }                                                                                                                   \
  MSL_V3_MIXED(fma, float)                                                                                            \
  MSL_V3(fma, half, fmaf)

#define MSL_F3(name, f)                                                                      \
  MSL_FN float name(float x, float y, float z) { return f(x, y, z); }                        \
  MSL_FN half name(half x, half y, half z) { return half(f(float(x), float(y), float(z))); } \
  MSL_V3(name, float, f)                                                                     \
  MSL_V3(name, half, f)

#define MSL_FAST_AND_PRECISE                                                         \
  MSL_F1(acos, acosf)                                                                \
  MSL_F1(acosh, acoshf)                                                              \
  MSL_F1(asin, asinf)                                                                \
  MSL_F1(asinh, asinhf)                                                              \
  MSL_F1(atan, atanf)                                                                \
  MSL_F1(atanh, atanhf)                                                              \
  MSL_F1(ceil, ceilf)                                                                \
  MSL_F1(cos, cosf)                                                                  \
  MSL_F1(cosh, coshf)                                                                \
  MSL_F1(cospi, msl_cospi)                                                           \
  MSL_F1(exp, expf)                                                                  \
  MSL_F1(exp2, exp2f)                                                                \
  MSL_F1(exp10, exp10f)                                                              \
  MSL_F1(fabs, fabsf)                                                                \
  MSL_F1(floor, floorf)                                                              \
  MSL_F1(fract, msl_fract)                                                           \
  MSL_F1(log, logf)                                                                  \
  MSL_F1(log2, log2f)                                                                \
  MSL_F1(log10, log10f)                                                              \
  MSL_F1(rint, rintf)                                                                \
  MSL_F1(round, roundf)                                                              \
  MSL_F1(rsqrt, msl_rsqrt)                                                           \
  MSL_F1(sin, sinf)                                                                  \
  MSL_F1(sinh, sinhf)                                                                \
  MSL_F1(sinpi, msl_sinpi)                                                           \
  MSL_F1(sqrt, sqrtf)                                                                \
  MSL_F1(tan, tanf)                                                                  \
  MSL_F1(tanh, tanhf)                                                                \
  MSL_F1(tanpi, msl_tanpi)                                                           \
  MSL_F1(trunc, truncf)                                                              \
  MSL_F1(saturate, msl_saturate)                                                     \
  MSL_F2(atan2, atan2f)                                                              \
  MSL_F2(divide, msl_divide)                                                         \
  MSL_F2(fmod, fmodf)                                                                \
  MSL_F2(pow, powf)                                                                  \
  MSL_F2(powr, powf)                                                                 \
  MSL_F2(fmax, fmaxf)                                                                \
  MSL_F2(fmin, fminf)                                                                \
  MSL_F2(max, fmaxf)                                                                 \
  MSL_F2(min, fminf)                                                                 \
  MSL_F2(fdim, fdimf)                                                                \
  MSL_FMA                                                                            \
  MSL_F3(fmax3, msl_max3)                                                            \
  MSL_F3(fmin3, msl_min3)                                                            \
  MSL_F3(fmedian3, msl_median3)                                                      \
  MSL_F3(max3, msl_max3)                                                             \
  MSL_F3(min3, msl_min3)                                                             \
  MSL_F3(median3, msl_median3)                                                       \
  MSL_F3(clamp, msl_clamp)                                                           \
  MSL_F1(abs, fabsf)                                                                 \
  MSL_FN float ldexp(float x, int k) { return ldexpf(x, k); }                        \
  MSL_FN half ldexp(half x, int k) { return half(ldexpf(float(x), k)); }             \
  MSL_FN float frexp(float x, __private int& e) { return frexpf(x, &e); }            \
  MSL_FN half frexp(half x, __private int& e) { return half(frexpf(float(x), &e)); } \
  MSL_FN float sincos(float x, __private float& c) {                                 \
    c = cosf(x);                                                                     \
    return sinf(x);                                                                  \
  }                                                                                  \
  MSL_FN half sincos(half x, __private half& c) {                                    \
    c = half(cosf(float(x)));                                                        \
    return half(sinf(float(x)));                                                     \
  }                                                                                  \
  MSL_FN float modf(float x, __private float& whole) { return modff(x, &whole); }

MSL_FAST_AND_PRECISE
namespace fast {
MSL_FAST_AND_PRECISE
}  // namespace fast
namespace precise {
MSL_FAST_AND_PRECISE
}  // namespace precise
MSL_F2(copysign, copysignf)
MSL_F2(step, msl_step)
MSL_F1(sign, msl_sign)
MSL_F3(mix, msl_mix)
MSL_F3(smoothstep, msl_smoothstep)
MSL_FN float nextafter(float x, float y) { return nextafterf(x, y); }
MSL_FN half nextafter(half x, half y) {
  if (!(x == x) || !(y == y)) return x + y;
  if (x == y) return y;
  short bits = __builtin_bit_cast(short, x);
  if ((bits & 0x7fff) == 0)
    bits = y > x ? short(1) : short(-0x7fff);
  else
    bits = short(bits + ((x < y) == (bits > 0) ? 1 : -1));
  return __builtin_bit_cast(half, bits);
}
MSL_FN int ilogb(float x) { return ilogbf(x); }
MSL_FN int ilogb(half x) { return ilogbf(float(x)); }

#define MSL_TEST(name, expression)                                                                  \
  MSL_FN bool name(float x) { return expression; }                                                  \
  MSL_FN bool name(half h) {                                                                        \
    float x = float(h);                                                                             \
    return expression;                                                                              \
  }                                                                                                 \
  template <typename T, int N, enable_if_t<is_same_v<T, float> || is_same_v<T, half>, bool> = true> \
  MSL_FN vec<bool, N> name(vec<T, N> v) {                                                           \
    return msl_map(v, [](T a) { return name(a); });                                                 \
  }
MSL_TEST(isnan, __builtin_isnan(x))
MSL_TEST(isinf, __builtin_isinf(x))
MSL_TEST(isfinite, __builtin_isfinite(x))
#undef MSL_TEST
MSL_FN bool isnormal(float x) { return __builtin_isnormal(x); }
MSL_FN bool isnormal(half x) { return __builtin_isfinite(float(x)) && fabsf(float(x)) >= 0x1p-14f; }
MSL_FN bool signbit(float x) { return (__builtin_bit_cast(uint, x) >> 31) != 0; }
MSL_FN bool signbit(half x) { return (__builtin_bit_cast(ushort, x) >> 15) != 0; }
template <typename T, int N>
MSL_FN vec<bool, N> isnormal(vec<T, N> v) {
  return msl_map(v, [](T a) { return isnormal(a); });
}
template <typename T, int N>
MSL_FN vec<bool, N> signbit(vec<T, N> v) {
  return msl_map(v, [](T a) { return signbit(a); });
}
MSL_FN bool isordered(float x, float y) { return x == x && y == y; }
MSL_FN bool isordered(half x, half y) { return x == x && y == y; }
MSL_FN bool isunordered(float x, float y) { return !(x == x && y == y); }
MSL_FN bool isunordered(half x, half y) { return !(x == x && y == y); }

template <int N>
MSL_FN bool any(vec<bool, N> v) {
  bool r = false;
  for (int i = 0; i < N; ++i) r |= v.v_[i];
  return r;
}
template <int N>
MSL_FN bool all(vec<bool, N> v) {
  bool r = true;
  for (int i = 0; i < N; ++i) r &= v.v_[i];
  return r;
}
MSL_FN bool any(bool v) { return v; }
MSL_FN bool all(bool v) { return v; }
#define MSL_X(t) \
  MSL_FN constexpr t select(t a, t b, bool c) { return c ? b : a; }
MSL_INTEGERS(MSL_X)
MSL_X(float)
MSL_X(half)
MSL_X(bfloat)
MSL_X(bool)
#undef MSL_X
template <typename T, int N>
MSL_FN vec<T, N> select(vec<T, N> a, vec<T, N> b, vec<bool, N> c) {
  return msl_map(a, b, c, [](T x, T y, bool z) { return z ? y : x; });
}
template <typename T, int N>
MSL_FN vec<T, N> select(vec<T, N> a, vec<T, N> b, bool c) {
  return c ? b : a;
}

#define MSL_FLOATS template <typename T, int N, enable_if_t<msl_floating<T>, bool> = true>
template <typename T, int N>
MSL_FN T dot(vec<T, N> a, vec<T, N> b) {
  T s = a.x * b.x;
  for (int i = 1; i < N; ++i) s += a.v_[i] * b.v_[i];
  return s;
}
MSL_FLOATS MSL_FN T length_squared(vec<T, N> a) { return dot(a, a); }
MSL_FLOATS MSL_FN T length(vec<T, N> a) { return sqrt(dot(a, a)); }
MSL_FLOATS MSL_FN T distance(vec<T, N> a, vec<T, N> b) { return length(a - b); }
MSL_FLOATS MSL_FN T distance_squared(vec<T, N> a, vec<T, N> b) { return dot(a - b, a - b); }
MSL_FLOATS MSL_FN vec<T, N> normalize(vec<T, N> a) { return a * rsqrt(dot(a, a)); }
MSL_FLOATS MSL_FN vec<T, N> reflect(vec<T, N> i, vec<T, N> n) { return i - T(2) * dot(n, i) * n; }
MSL_FLOATS MSL_FN vec<T, N> faceforward(vec<T, N> n, vec<T, N> i, vec<T, N> r) { return dot(r, i) < T(0) ? n : -n; }
MSL_FLOATS MSL_FN vec<T, N> refract(vec<T, N> i, vec<T, N> n, T eta) {
  T d = dot(n, i), k = T(1) - eta * eta * (T(1) - d * d);
  return k < T(0) ? vec<T, N>(T(0)) : eta * i - (eta * d + sqrt(k)) * n;
}
template <typename T>
MSL_FN vec<T, 3> cross(vec<T, 3> a, vec<T, 3> b) {
  return vec<T, 3>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
#undef MSL_FLOATS
}  // namespace metal
