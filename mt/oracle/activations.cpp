#include "mt/oracle/activations.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace mt::oracle {

Estimate sigmoid(double x) {
  const double e = std::exp(-x), value = 1 / (1 + e);
  if (std::isinf(x)) return {value, 0};
  // The error of exp reaches the result scaled by e / (1 + e); the sum and the quotient add one rounding each.
  const double share = std::isinf(e) ? 1 : e / (1 + e);
  return {value, value * kUnit * (share * (kExpError + kExpArgument * std::fabs(x)) + 3) + kTiny};
}

Estimate silu(double x) {
  const Estimate s = sigmoid(x);
  const double value = x * s.value;
  return {value, std::fabs(x) * s.bound + std::fabs(value) * kUnit + kTiny};
}

Estimate gelu(double x) {
  const double z = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x), t = std::tanh(z);
  const double value = 0.5 * x * (1 + t);
  // The polynomial makes 6 roundings, all terms of one sign; tanh is within 5 ulps; 1 + t keeps its absolute error.
  const double slope = std::isfinite(z) ? (1 - t * t) * std::fabs(z) : 0;
  const double error = kUnit * (6 * slope + 10 * std::fabs(t) + std::fabs(1 + t));
  return {value, 0.5 * std::fabs(x) * error + 3 * kUnit * std::fabs(value) + kTiny * (1 + std::fabs(x))};
}

Estimate softplus(double x) {
  if (std::isnan(x)) return {x, 0};
  const double e = std::exp(-std::fabs(x)), tail = std::log1p(e), value = std::fmax(x, 0) + tail;
  const double spread = std::isinf(x) ? 0 : (kExpError + kExpArgument * std::fabs(x)) * e / (1 + e);
  return {value, kUnit * (spread + kLogError * tail + std::fabs(value)) + kTiny};
}

double erfinv(double x) {
  if (!(std::fabs(x) <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (std::fabs(x) == 1) return std::copysign(std::numeric_limits<double>::infinity(), x);
  if (x == 0) return x;
  // A start from erf(y)^2 ~ 1 - exp(-4 y^2 / pi), then Halley's method on erf, or on erfc where erf is flat.
  const double tail = 1 - std::fabs(x);
  double y = std::fabs(x) < 1e-4 ? std::fabs(x) * std::sqrt(std::numbers::pi) / 2
                                 : std::sqrt(-std::numbers::pi / 4 * std::log(tail * (1 + std::fabs(x))));
  for (int step = 0; step < 8; ++step) {
    const double miss = y > 0.5 ? tail - std::erfc(y) : std::erf(y) - std::fabs(x);
    const double newton = miss / (2 / std::sqrt(std::numbers::pi) * std::exp(-y * y));
    const double change = newton / (1 + y * newton);
    y -= change;
    if (std::fabs(change) < 1e-16 * y) break;
  }
  return std::copysign(y, x);
}

}  // namespace mt::oracle
