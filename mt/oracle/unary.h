// Elementwise functions of one tensor.
#pragma once
#include <cstdint>
#include <string_view>

#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"

namespace mt::oracle {

/// Round is to nearest, ties to even. Sign keeps zeros and NaN. Relu passes NaN on. Gelu is the tanh form.
/// Copy stands for casts too: the store rounds to the output's dtype.
enum class Unary : std::uint8_t {
  Copy,
  Exp,
  Exp2,
  Expm1,
  Log,
  Log2,
  Log10,
  Log1p,
  Sqrt,
  Rsqrt,
  Recip,
  Square,
  Abs,
  Neg,
  Sign,
  Floor,
  Ceil,
  Round,
  Trunc,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  Erfinv,
  Sigmoid,
  Silu,
  Gelu,
  Relu,
  Softplus,
};
inline constexpr int kUnaryCount = static_cast<int>(Unary::Softplus) + 1;

std::string_view name_of(Unary op);  // in lower case: "exp", "log1p", …
/// Throws mt::Error for a name that no function has.
Unary unary_from(std::string_view name);

/// f(x) element by element. Arithmetic and rounding functions are exact; the others are allowed the ulps of the op
/// table, compositions what their formula loses. `exp_loss`: what the exponential of Exp, Sigmoid and Silu may be off
/// by beyond that, relative to it.
Expected unary(Unary op, const HostTensor& x, double exp_loss = 0);
/// f at one point.
double unary(Unary op, double x);

}  // namespace mt::oracle
