// Enough of CUDA, in C++, to run printed kernels on the host.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "mt/base/half.h"
#include "tests/emulation/exchange.h"

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(n)
#define __shared__ static
#define __restrict__

struct mt_xyz {
  unsigned x, y, z;
};
inline mt_xyz mt_thread() { return {mt_host_ids()->index, 0, 0}; }
inline mt_xyz mt_block() { return {mt_host_ids()->group[0], mt_host_ids()->group[1], mt_host_ids()->group[2]}; }
#define threadIdx mt_thread()
#define blockIdx mt_block()

inline void mt_ptx(const char* op, float& to, unsigned short x) { to = mt::f16_to_f32(x); }
inline void mt_ptx(const char* op, unsigned short& to, float x) {
  to = std::string_view(op) == "cvt.rn.f16.f32" ? mt::f32_to_f16(x) : mt::f32_to_bf16(x);
}
inline void mt_ptx(const char*, float& to, float x) {  // ex2.approx.ftz
  const float y = std::exp2(x);
  to = std::fabs(y) < 0x1p-126f ? 0 : y;
}
inline float mt_ptx_min(float x, float y) {
  return x != x ? x : y != y ? y : x < y || (x == y && std::signbit(x)) ? x : y;
}
inline float mt_ptx_max(float x, float y) {
  return x != x ? x : y != y ? y : x > y || (x == y && !std::signbit(x)) ? x : y;
}

using std::max;
using std::min;
using std::signbit;
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline int __float2int_rz(float x) {
  return x != x ? 0 : x >= 2147483648.0f ? 2147483647 : x < -2147483648.0f ? -2147483647 - 1 : int(x);
}
inline unsigned __float2uint_rz(float x) { return x != x || x < 0 ? 0u : x >= 4294967296.0f ? ~0u : unsigned(x); }
inline unsigned __popc(unsigned x) { return unsigned(std::popcount(x)); }
// max.f32 of PTX takes the number beside a signalling NaN, where the C library makes a NaN of both.
inline float larger_number(float x, float y) { return x != x || x < y ? y : x; }
inline float smaller_number(float x, float y) { return x != x || y < x ? y : x; }
#define fmaxf larger_number
#define fminf smaller_number
inline float __expf(float x) { return std::exp2(x * 1.442695041f); }  // as ex2.approx takes it
inline unsigned __clz(unsigned x) { return unsigned(std::countl_zero(x)); }
inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i) r |= (x >> i & 1u) << (31 - i);
  return r;
}
inline float rsqrtf(float x) { return float(1 / std::sqrt(double(x))); }
inline float erfinvf(float y) {
  if (!(std::fabs(y) < 1)) return std::fabs(y) == 1 ? y * INFINITY : NAN;
  if (std::fabs(y) < 1e-3f)
    return float(0.88622692545275801 * double(y) * (1 + 0.26179938779914944 * double(y) * double(y)));
  double lo = 0, hi = 7;
  for (int i = 0; i < 100; ++i) {
    const double mid = (lo + hi) / 2;
    ((std::fabs(y) < 0.5f ? std::erf(mid) < std::fabs(double(y)) : std::erfc(mid) > 1 - std::fabs(double(y))) ? lo
                                                                                                              : hi) =
        mid;
  }
  return float(std::copysign((lo + hi) / 2, double(y)));
}

inline void __syncthreads() { mt_host_barrier(0); }
inline void __syncwarp(unsigned = ~0u) { mt_host_barrier(1); }
template <class T>
T __shfl_sync(unsigned, T x, int lane) {
  return mt_from(x, unsigned(lane));
}
template <class T>
T __shfl_xor_sync(unsigned, T x, int by) {
  return mt_from(x, mt_lane() ^ unsigned(by));
}
template <class T>
T __shfl_up_sync(unsigned, T x, unsigned by) {
  return mt_from(x, mt_lane() - by, mt_lane() >= by);
}
template <class T>
T __shfl_down_sync(unsigned, T x, unsigned by) {
  return mt_from(x, mt_lane() + by, mt_lane() + by < 32);
}
inline int __all_sync(unsigned, int x) {
  return mt_reduce(x != 0 ? 1 : 0, [](int a, int b) { return a & b; });
}
inline int __any_sync(unsigned, int x) {
  return mt_reduce(x != 0 ? 1 : 0, [](int a, int b) { return a | b; });
}
template <class T>
T __reduce_add_sync(unsigned, T x) {
  return T(mt_reduce(unsigned(x), [](unsigned a, unsigned b) { return a + b; }));
}
template <class T>
T __reduce_min_sync(unsigned, T x) {
  return mt_reduce(x, [](T a, T b) { return b < a ? b : a; });
}
template <class T>
T __reduce_max_sync(unsigned, T x) {
  return mt_reduce(x, [](T a, T b) { return a < b ? b : a; });
}
inline unsigned __reduce_and_sync(unsigned, unsigned x) {
  return mt_reduce(x, [](unsigned a, unsigned b) { return a & b; });
}
inline unsigned __reduce_or_sync(unsigned, unsigned x) {
  return mt_reduce(x, [](unsigned a, unsigned b) { return a | b; });
}
inline unsigned __reduce_xor_sync(unsigned, unsigned x) {
  return mt_reduce(x, [](unsigned a, unsigned b) { return a ^ b; });
}

#define MT_ATOMIC(name, expr)    \
  template <class T, class U>    \
  T name(T* at, U u) {           \
    const T old = *at, v = T(u); \
    *at = expr;                  \
    return old;                  \
  }
template <class T>
T mt_add(T a, T b) {
  if constexpr (std::is_same_v<T, int>)
    return int(unsigned(a) + unsigned(b));
  else
    return a + b;
}
MT_ATOMIC(atomicAdd, mt_add(old, v))
MT_ATOMIC(atomicMin, v < old ? v : old)
MT_ATOMIC(atomicMax, old < v ? v : old)
MT_ATOMIC(atomicAnd, old& v)
MT_ATOMIC(atomicOr, old | v)
MT_ATOMIC(atomicXor, old ^ v)
MT_ATOMIC(atomicExch, v)
inline unsigned atomicCAS(unsigned* at, unsigned expected, unsigned v) {
  const unsigned old = *at;
  if (old == expected) *at = v;
  return old;
}
