#include "mt/oracle/binary.h"

#include <fmt/format.h>

#include <cmath>

#include "mt/base/error.h"
#include "mt/oracle/activations.h"
#include "mt/oracle/block.h"
#include "mt/oracle/parallel.h"
#include "mt/oracle/rounding.h"

namespace mt::oracle {
namespace {

Estimate log_add_exp(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return {a + b, 0};
  const double top = std::fmax(a, b), gap = std::fabs(a - b);
  if (std::isinf(top) || std::isinf(gap)) return {top, kUnit * std::fabs(top)};
  const double e = std::exp(-gap), tail = std::log1p(e), value = top + tail;
  const double spread = (kExpError + (kExpArgument + 1) * gap) * e / (1 + e);
  return {value, kUnit * (spread + kLogError * tail + std::fabs(value)) + kTiny};
}

struct Row {
  std::string_view name;
  Estimate (*at)(double, double);
};

constexpr Row kRows[kBinaryCount] = {
    {"add",
     [](double a, double b) {
       return Estimate{nearest_f32(a + b), 0};
     }},
    {"sub",
     [](double a, double b) {
       return Estimate{nearest_f32(a - b), 0};
     }},
    {"mul",
     [](double a, double b) {
       return Estimate{nearest_f32(a * b), 0};
     }},
    {"div",
     [](double a, double b) {
       return Estimate{nearest_f32(a / b), 0};
     }},
    {"max",
     [](double a, double b) {
       return Estimate{std::isnan(a) ? a : std::isnan(b) ? b : std::fmax(a, b), 0};
     }},
    {"min",
     [](double a, double b) {
       return Estimate{std::isnan(a) ? a : std::isnan(b) ? b : std::fmin(a, b), 0};
     }},
    {"pow", [](double a, double b) { return within_ulps(std::pow(a, b), 16); }},
    {"atan2", [](double a, double b) { return within_ulps(std::atan2(a, b), 6); }},
    {"rem",
     [](double a, double b) {
       return Estimate{std::fmod(a, b), 0};
     }},
    {"logaddexp", log_add_exp},
};

template <class F>
Expected map(const HostTensor& a, const HostTensor& b, F at) {
  const bool same = b.count() == a.count(), scalar = b.count() == 1;
  require(same || scalar, fmt::format("{} has {} elements and {} has {}; give them the same number", a.name, a.count(),
                                      b.name, b.count()));
  Expected out = blank(a.count());
  parallel_for(a.count(), 64 * kBlock, [&](std::int64_t begin, std::int64_t end) {
    double left[kBlock], right[kBlock];
    for (std::int64_t p = begin; p < end; p += kBlock) {
      const std::int64_t n = std::min(kBlock, end - p);
      read(a, p, n, left);
      if (same) {
        read(b, p, n, right);
      } else {
        std::fill(right, right + n, b.at(0));
      }
      for (std::int64_t i = 0; i < n; ++i) put(out, p + i, at(left[i], right[i]));
    }
  });
  return out;
}

/// e * factor, where the product rounds once and `roundings` more come from the factor.
Estimate times(Estimate e, double factor, double roundings = 0) {
  const double value = e.value * factor;
  return {value, e.bound * std::fabs(factor) + (1 + roundings) * kUnit * std::fabs(value) + kTiny};
}

double clamp(double x, double limit) { return x < -limit ? -limit : x > limit ? limit : x; }

}  // namespace

std::string_view name_of(Binary op) { return kRows[static_cast<int>(op)].name; }

Binary binary_from(std::string_view name) {
  for (int i = 0; i < kBinaryCount; ++i)
    if (kRows[i].name == name) return static_cast<Binary>(i);
  throw Error(fmt::format("oracle: there is no binary function {}; use a name of mt/oracle/binary.h", name));
}

Expected binary(Binary op, const HostTensor& a, const HostTensor& b) {
  return map(a, b, kRows[static_cast<int>(op)].at);
}

SumAndProduct binary_two(const HostTensor& a, const HostTensor& b) {
  return {binary(Binary::Add, a, b), binary(Binary::Mul, a, b)};
}

Expected swiglu(const HostTensor& gate, const HostTensor& up, double exp_loss) {
  return map(gate, up, [=](double g, double u) { return times(lossy(silu(g), exp_loss), u); });
}

Expected gate_gelu(const HostTensor& gate, const HostTensor& up) {
  return map(gate, up, [](double g, double u) { return times(gelu(g), u); });
}

Expected clipped_swiglu(const HostTensor& gate, const HostTensor& up, double exp_loss, double alpha, double limit) {
  return map(gate, up, [=](double g, double u) {
    g = clamp(g, limit);
    u = clamp(u, limit);
    // alpha, held as an f32, and its product with g round once each; sigmoid passes (1 - s) |x| of that on.
    Estimate s = lossy(sigmoid(alpha * g), exp_loss);
    s.bound += 2 * kUnit * std::fabs(alpha * g) * s.value * (1 - s.value);
    return times(times(s, g), u + 1, 1);
  });
}

Expected select(const HostTensor& condition, const HostTensor& on_true, const HostTensor& on_false) {
  require(condition.count() == on_true.count() && condition.count() == on_false.count(),
          fmt::format("select needs three tensors of one size, not {}, {} and {}", condition.count(), on_true.count(),
                      on_false.count()));
  Expected out = blank(condition.count());
  parallel_for(condition.count(), 64 * kBlock, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      out.value[static_cast<std::size_t>(i)] = condition.int_at(i) != 0 ? on_true.at(i) : on_false.at(i);
  });
  return out;
}

}  // namespace mt::oracle
