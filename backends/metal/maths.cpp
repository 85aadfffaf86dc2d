// Coefficients are least-maximum fits of the functions named, made in double; errors are checked in the tests.
#include "backends/metal/dialect.h"

namespace mt::metal {
namespace {

struct Function {
  std::string_view name, text;
};

constexpr Function kFunctions[] = {
    {"min", R"(// NaN if either is; -0 < +0.
static inline float min(float x, float y) { return x != x || x < y || (x == y && signbit(x)) ? x : y; }
)"},
    {"max", R"(// NaN if either is; +0 > -0.
static inline float max(float x, float y) { return x != x || x > y || (x == y && !signbit(x)) ? x : y; }
)"},
    {"erf", R"(// A polynomial in x * x below 1; above, 1 - exp(-q) with a polynomial q of |x|.
static inline float erf(float x) {
  const float a = fabs(x);
  if (a >= 4.0f) return x > 0.0f ? 1.0f : -1.0f;
  if (a >= 1.0f) {
    float q = fma(a, 2.1697639e-5f, -4.4147292e-4f);
    q = fma(a, q, 4.2052860e-3f);
    q = fma(a, q, -2.5210341e-2f);
    q = fma(a, q, 1.0842210e-1f);
    q = fma(a, q, 6.3321638e-1f);
    q = fma(a, q, 1.1295803f);
    q = fma(a, q, -1.8846779e-4f);
    return copysign(1.0f - precise::exp(-q), x);
  }
  const float s = x * x;
  float p = fma(s, -9.6415160e-6f, 1.1256947e-4f);
  p = fma(s, p, -8.4828289e-4f);
  p = fma(s, p, 5.2209455e-3f);
  p = fma(s, p, -2.6865400e-2f);
  p = fma(s, p, 1.1283782e-1f);
  p = fma(s, p, -3.7612638e-1f);
  return x * fma(s, p, 1.1283792f);
}
)"},
    {"erfinv", R"(// x times a polynomial of w = -log(1 - x * x), or of its root in the tails.
static inline float erfinv(float x) {
  const float left = (1.0f - x) * (1.0f + x);
  if (!(left > 0.0f)) return x == 1.0f ? INFINITY : x == -1.0f ? -INFINITY : as_type<float>(0x7fc00000u);
  const float w = -precise::log(left);
  float p;
  if (w < 5.0f) {
    const float t = w - 2.5f;
    p = fma(t, -8.7910568e-9f, 2.3232644e-8f);
    p = fma(t, p, 4.6617068e-7f);
    p = fma(t, p, -3.4627049e-6f);
    p = fma(t, p, -4.9633477e-6f);
    p = fma(t, p, 2.1834444e-4f);
    p = fma(t, p, -1.2527419e-3f);
    p = fma(t, p, -4.1773869e-3f);
    p = fma(t, p, 2.4664028e-1f);
    p = fma(t, p, 1.5014094f);
  } else {
    const float t = precise::sqrt(w) - 3.0f;
    p = fma(t, 9.8500386e-5f, -2.9101968e-4f);
    p = fma(t, p, -3.3003937e-5f);
    p = fma(t, p, 1.4615948e-3f);
    p = fma(t, p, -3.6094682e-3f);
    p = fma(t, p, 5.6961728e-3f);
    p = fma(t, p, -7.6347073e-3f);
    p = fma(t, p, 9.4441772e-3f);
    p = fma(t, p, 1.0016748f);
    p = fma(t, p, 2.8329768f);
  }
  return x * p;
}
)"},
    {"expm1", R"(// With k = round(x / ln 2) and r the rest: 2^k * (exp(r) - 1) + (2^k - 1).
static inline float expm1(float x) {
  if (x < -17.5f) return -1.0f;
  if (!(x < 89.0f)) return x != x ? x : INFINITY;
  const float k = rint(x * 1.4426950f);
  const float r = fma(k, 1.9046542e-9f, fma(k, -6.9314718e-1f, x));
  float p = fma(r, 1.9909686e-4f, 1.3933315e-3f);
  p = fma(r, p, 8.3332825e-3f);
  p = fma(r, p, 4.1666482e-2f);
  p = fma(r, p, 1.6666667e-1f);
  p = fma(r * r, fma(r, p, 0.5f), r);
  if (k == 0.0f) return x == 0.0f ? x : p;
  // 2^128 is out of range, so the last step up is made by doubling.
  const float half_scale = as_type<float>(uint(int(k) + 126) << 23);
  return 2.0f * fma(half_scale, p, half_scale - 0.5f);
}
)"},
    {"log1p",
     R"(// log(1 + x) = k ln 2 + log(1 + f) with f in [sqrt(1/2) - 1, sqrt(2) - 1]; c mends the rounding of 1 + x.
static inline float log1p(float x) {
  if (!(x > -1.0f)) return x == -1.0f ? -INFINITY : as_type<float>(0x7fc00000u);
  if (!(x < INFINITY) || x == 0.0f) return x;
  float f = x, c = 0.0f, k = 0.0f;
  if (x < -0.29289f || x > 0.41421f) {
    const float u = 1.0f + x;
    c = (x > 1.0f ? 1.0f - (u - x) : x - (u - 1.0f)) / u;
    const uint bits = as_type<uint>(u) + (0x3f800000u - 0x3f3504f3u);
    k = float(int(bits >> 23) - 127);
    f = as_type<float>((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  }
  float p = fma(f, 6.9135673e-2f, -1.1789250e-1f);
  p = fma(f, p, 1.1873426e-1f);
  p = fma(f, p, -1.2384462e-1f);
  p = fma(f, p, 1.4218616e-1f);
  p = fma(f, p, -1.6669244e-1f);
  p = fma(f, p, 2.0002228e-1f);
  p = fma(f, p, -2.4999987e-1f);
  p = fma(f, p, 3.3333310e-1f);
  const float s = f * f;
  const float low = fma(k, -1.9046542e-9f, c) + s * fma(f, p, -0.5f);
  return fma(k, 6.9314718e-1f, low + f);
}
)"},
};

}  // namespace

std::string maths_helper(std::string_view name) {
  for (const Function& f : kFunctions)
    if (f.name == name) return std::string(f.text);
  return "";
}

}  // namespace mt::metal
