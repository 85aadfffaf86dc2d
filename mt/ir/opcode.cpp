#include "mt/ir/opcode.h"

#include <array>
#include <bit>
#include <cmath>

#include "mt/base/error.h"

namespace mt {
namespace {

constexpr std::uint64_t mt_u(std::int64_t x) { return static_cast<std::uint64_t>(x); }
constexpr std::int64_t mt_wrap(std::uint64_t x) { return static_cast<std::int64_t>(x); }

/// Newton steps on erf from a logarithmic first guess (Winitzki), in double.
float mt_erfinv(float a) {
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
constexpr OpInfo kOps[] = {
#include "mt/ir/ops.def"
};
constexpr std::array<std::string_view, 8> kCombines = {"sum", "prod", "min", "max", "and", "or", "xor", "exchange"};

}  // namespace

const OpInfo& info(Op op) { return kOps[static_cast<int>(op)]; }
int op_count() { return static_cast<int>(std::size(kOps)); }

std::optional<Op> op_from(std::string_view name) {
  for (int i = 0; i < op_count(); ++i)
    if (kOps[i].name == name) return static_cast<Op>(i);
  return std::nullopt;
}

bool admits(DTypeClass c, DType t) {
  switch (c) {
    case kAny:
      return true;
    case kNumber:
      return t != DType::Bool;
    case kFloat:
      return is_float(t);
    case kInt:
      return is_int(t);
    case kIntBool:
      return is_int(t) || t == DType::Bool;
    case kUnsigned32:
      return t == DType::U32;
    case kBoolFirst:
      return t == DType::Bool;
  }
  MT_ICE("dtype class out of range");
}

std::string_view name_of(Combine c) { return kCombines[static_cast<std::size_t>(c)]; }
std::optional<Combine> combine_from(std::string_view name) {
  for (std::size_t i = 0; i < kCombines.size(); ++i)
    if (kCombines[i] == name) return static_cast<Combine>(i);
  return std::nullopt;
}
Op op_of(Combine c) {
  switch (c) {
    case Combine::Sum:
      return Op::Add;
    case Combine::Prod:
      return Op::Mul;
    case Combine::Min:
      return Op::Min;
    case Combine::Max:
      return Op::Max;
    case Combine::And:
      return Op::And;
    case Combine::Or:
      return Op::Or;
    case Combine::Xor:
      return Op::Xor;
    case Combine::Exchange:
      break;
  }
  MT_ICE("exchange has no binary op");
}

}  // namespace mt
