#include "mt/oracle/float_codes.h"

#include <cmath>

namespace mt::oracle {
namespace {

/// sign · 2^(exponent - bias) · 1.mantissa, or where the exponent is 0: sign · 2^(1 - bias) · 0.mantissa.
double number(std::uint32_t code, int exponent_bits, int mantissa_bits, int bias) {
  const auto field = [&](int at, int bits) { return static_cast<int>(code >> at & ((1u << bits) - 1)); };
  const double fraction = std::ldexp(field(0, mantissa_bits), -mantissa_bits);
  const int exponent = field(mantissa_bits, exponent_bits);
  const double size = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return field(mantissa_bits + exponent_bits, 1) != 0 ? -size : size;
}

}  // namespace

double e2m1(std::uint32_t code) { return number(code, 2, 1, 1); }
double e4m3(std::uint32_t code) { return (code & 127) == 127 ? std::nan("") : number(code, 4, 3, 7); }
double e8m0(std::uint32_t code) { return code == 255 ? std::nan("") : std::ldexp(1.0, static_cast<int>(code) - 127); }

}  // namespace mt::oracle
