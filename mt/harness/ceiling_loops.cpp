#include "mt/harness/ceiling_loops.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Vector types of the compiler, once for each width; the widest that the host has is chosen at run time.
namespace mt {
namespace {

template <class V>
inline __attribute__((always_inline)) std::uint64_t sum_words(const std::byte* from, std::size_t bytes) {
  const V* p = reinterpret_cast<const V*>(from);
  V a{}, b{}, c{}, d{};
  const std::size_t n = bytes / sizeof(V);
  for (std::size_t i = 0; i < n; i += 4) {
    a += p[i];
    b += p[i + 1];
    c += p[i + 2];
    d += p[i + 3];
  }
  a += b + (c + d);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < sizeof(V) / 8; ++i) sum += a[i];
  return sum;
}

constexpr int kChains = 12;  // independent sums: latency times throughput of the units, rounded up

template <class V>
inline __attribute__((always_inline)) double run_chains(std::int64_t rounds, float& sink) {
  V sums[kChains], scale{}, step{};
  for (std::size_t i = 0; i < sizeof(V) / 4; ++i) {
    scale[i] = 0.5f;
    step[i] = 1.0f;
  }
  for (int k = 0; k < kChains; ++k) sums[k] = step * static_cast<float>(k);
  for (std::int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) sums[k] = sums[k] * scale + step;
  V total = sums[0];
  for (int k = 1; k < kChains; ++k) total += sums[k];
  for (std::size_t i = 0; i < sizeof(V) / 4; ++i) sink += total[i];
  return static_cast<double>(rounds) * kChains * 2 * static_cast<double>(sizeof(V) / 4);
}

using Words16 = std::uint64_t __attribute__((vector_size(16)));
using Floats16 = float __attribute__((vector_size(16)));

#if defined(__x86_64__)
using Words32 = std::uint64_t __attribute__((vector_size(32)));
using Words64 = std::uint64_t __attribute__((vector_size(64)));
using Floats32 = float __attribute__((vector_size(32)));
using Floats64 = float __attribute__((vector_size(64)));

__attribute__((target("avx2"))) std::uint64_t read_avx2(const std::byte* from, std::size_t bytes) {
  return sum_words<Words32>(from, bytes);
}
__attribute__((target("avx512f"))) std::uint64_t read_avx512(const std::byte* from, std::size_t bytes) {
  return sum_words<Words64>(from, bytes);
}
__attribute__((target("avx2,fma"))) double fma_avx2(std::int64_t rounds, float& sink) {
  return run_chains<Floats32>(rounds, sink);
}
__attribute__((target("avx512f"))) double fma_avx512(std::int64_t rounds, float& sink) {
  return run_chains<Floats64>(rounds, sink);
}
__attribute__((target("avx2"))) void copy_avx2(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 128) {
    const auto* p = reinterpret_cast<const __m256i*>(from + i);
    auto* q = reinterpret_cast<__m256i*>(to + i);
    const __m256i a = _mm256_load_si256(p), b = _mm256_load_si256(p + 1), c = _mm256_load_si256(p + 2),
                  d = _mm256_load_si256(p + 3);
    _mm256_stream_si256(q, a);
    _mm256_stream_si256(q + 1, b);
    _mm256_stream_si256(q + 2, c);
    _mm256_stream_si256(q + 3, d);
  }
  _mm_sfence();
}
__attribute__((target("avx2"))) void fill_avx2(std::byte* to, std::size_t bytes) {
  const __m256i v = _mm256_set1_epi32(0x3f800000);
  for (std::size_t i = 0; i < bytes; i += 32) _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), v);
  _mm_sfence();
}
#endif

}  // namespace

std::uint64_t read_words(const std::byte* from, std::size_t bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return read_avx512(from, bytes);
  if (__builtin_cpu_supports("avx2")) return read_avx2(from, bytes);
#endif
  return sum_words<Words16>(from, bytes);
}

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return copy_avx2(to, from, bytes);
#endif
  std::memcpy(to, from, bytes);
}

void stream_fill(std::byte* to, std::size_t bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return fill_avx2(to, bytes);
#endif
  std::memset(to, 1, bytes);
}

double multiply_add(std::int64_t rounds, float& sink) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return fma_avx512(rounds, sink);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return fma_avx2(rounds, sink);
#endif
  return run_chains<Floats16>(rounds, sink);
}

}  // namespace mt
