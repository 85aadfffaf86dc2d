// Activation functions with the error that an f32 computation of the usual formula makes. The argument is exact.
#pragma once
#include "mt/oracle/rounding.h"

namespace mt::oracle {

/// 1 / (1 + exp(-x)).
Estimate sigmoid(double x);
/// x * sigmoid(x).
Estimate silu(double x);
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
Estimate gelu(double x);
/// log(1 + exp(x)) as max(x, 0) + log1p(exp(-|x|)), accurate for negative x too.
Estimate softplus(double x);
/// An exponential, or what a sum of 1 and one divides, where the exponential is off by `exp_loss` of itself besides.
inline Estimate lossy(Estimate e, double exp_loss) {
  return {e.value, e.bound + (std::isfinite(e.value) ? std::fabs(e.value) * exp_loss : 0)};
}
/// Inverse of erf: ±inf at ±1, NaN outside.
double erfinv(double x);

}  // namespace mt::oracle
