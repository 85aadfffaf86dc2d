// Elementwise functions of two and three tensors.
#pragma once
#include <cstdint>
#include <string_view>

#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"

namespace mt::oracle {

/// Max and Min give NaN if either operand is NaN. Rem is fmod: exact, with the sign of the dividend. LogAddExp is
/// log(exp(a) + exp(b)) without overflow.
enum class Binary : std::uint8_t { Add, Sub, Mul, Div, Max, Min, Pow, Atan2, Rem, LogAddExp };
inline constexpr int kBinaryCount = 10;

std::string_view name_of(Binary op);  // "add", …, "logaddexp"
/// Throws mt::Error for a name that no function has.
Binary binary_from(std::string_view name);

/// f(a, b) element by element; `b` may have one element, which serves all. + - * / are correctly rounded in f32.
Expected binary(Binary op, const HostTensor& a, const HostTensor& b);

/// a + b and a * b.
struct SumAndProduct {
  Expected sum, product;
};
SumAndProduct binary_two(const HostTensor& a, const HostTensor& b);

/// silu(gate) * up. `exp_loss`: what an exponential may be off by beyond its usual error, relative to it.
Expected swiglu(const HostTensor& gate, const HostTensor& up, double exp_loss = 0);
/// gelu(gate) * up, tanh form.
Expected gate_gelu(const HostTensor& gate, const HostTensor& up);
/// g * sigmoid(alpha * g) * (u + 1) with g and u clamped to ±limit.
Expected clipped_swiglu(const HostTensor& gate, const HostTensor& up, double exp_loss = 0, double alpha = 1.702,
                        double limit = 7);

/// condition ? on_true : on_false; the condition is true where it is not 0.
Expected select(const HostTensor& condition, const HostTensor& on_true, const HostTensor& on_false);

}  // namespace mt::oracle
