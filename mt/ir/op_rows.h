// The rows of the op table as compile-time constants, for code that is specialised by op. Others ask info().
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "mt/ir/opcode.h"

namespace mt {

constexpr std::uint64_t mt_u(std::int64_t x) { return static_cast<std::uint64_t>(x); }
constexpr std::int64_t mt_wrap(std::uint64_t x) { return static_cast<std::int64_t>(x); }

/// Newton steps on erf from a logarithmic first guess (Winitzki), in double.
inline float mt_erfinv(float a) {
  const double y = static_cast<double>(a);
  if (!(std::fabs(y) < 1)) return y == 1 ? HUGE_VALF : y == -1 ? -HUGE_VALF : NAN;
  const double l = std::log1p(-y * y), k = 2 / (M_PI * 0.147) + l / 2;
  double x = std::copysign(std::sqrt(std::sqrt(k * k - l / 0.147) - k), y);
  for (int i = 0; i < 4; ++i) {
    const double tail = y > 0 ? std::erfc(x) - (1 - y) : (1 + y) - std::erfc(-x);
    const double miss = std::fabs(y) > 0.5 ? -tail : std::erf(x) - y;
    x -= miss * std::sqrt(M_PI) / 2 * std::exp(x * x);
  }
  return static_cast<float>(x);
}

#define MT_F(expr)                         \
  [](float a, float b, float c) -> float { \
    (void)a, (void)b, (void)c;             \
    return static_cast<float>(expr);       \
  }
#define MT_U(expr)                                        \
  [](std::uint64_t a, std::uint64_t b) -> std::uint64_t { \
    (void)a, (void)b;                                     \
    return expr;                                          \
  }
#define MT_S(expr)                                     \
  [](std::int64_t a, std::int64_t b) -> std::int64_t { \
    (void)a, (void)b;                                  \
    return expr;                                       \
  }
#define OP(Id, ...) OpInfo{__VA_ARGS__},
inline constexpr OpInfo kOpRows[] = {
#include "mt/ir/ops.def"
};
#undef MT_F
#undef MT_U
#undef MT_S

}  // namespace mt
