#include "mt/oracle/rope.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "mt/base/error.h"
#include "mt/oracle/block.h"
#include "mt/oracle/parallel.h"
#include "mt/oracle/rounding.h"

namespace mt::oracle {
namespace {

/// 2^exponent, where the exponent comes from `roundings` f32 operations, as value and absolute error.
Estimate power_of_two(double exponent, double roundings) {
  const double value = std::exp2(exponent);
  const double relative = exponent == 0 ? 0 : kExpError + std::numbers::ln2 * roundings * std::fabs(exponent);
  return {value, value * kUnit * relative};
}

/// Inverse frequencies of the pairs of a head, with their errors.
std::vector<Estimate> frequencies(std::int64_t pairs, double log2_base, double exponent_roundings) {
  std::vector<Estimate> out;
  for (std::int64_t p = 0; p < pairs; ++p)
    out.push_back(power_of_two(-static_cast<double>(p) / static_cast<double>(pairs) * log2_base, exponent_roundings));
  return out;
}

Estimate llama_frequency(Estimate f, const LlamaRope& k) {
  if (k.scale_factor == 1) return {f.value, f.bound + 4 * kUnit * f.value};
  const double turns = k.original_max_position * f.value / (2 * std::numbers::pi);  // over the original context
  const double span = k.high_freq_factor - k.low_freq_factor;
  const double blend = std::fmin(1, std::fmax(0, (turns - k.low_freq_factor) / span));
  const double factor = (1 - blend) / k.scale_factor + blend, value = f.value * factor;
  // Near the ends of the blend a rounding may pick the other branch; both agree there to the same order.
  const bool blended = turns > k.low_freq_factor * (1 - 1e-5) && turns < k.high_freq_factor * (1 + 1e-5);
  const double turns_error = turns * (f.bound / f.value + 4 * kUnit) + kUnit * std::fabs(turns - k.low_freq_factor);
  const double blend_error = blended ? turns_error / span + 2 * kUnit : 0;
  const double error = f.bound * factor + f.value * std::fabs(1 - 1 / k.scale_factor) * blend_error + 4 * kUnit * value;
  return {value, error};
}

/// Rotates the pair at `first` and `second` by position * frequency.
void rotate(const HostTensor& x, std::int64_t first, std::int64_t second, double position, Estimate f, Expected& out) {
  const double angle = position * f.value, a = x.at(first), b = x.at(second);
  const double angle_error = position * f.bound + kUnit * std::fabs(angle);
  const double c = std::cos(angle), s = std::sin(angle);
  // sin and cos: 4 ulps of a result below 1, and the angle's error.
  const double c_error = kUnit * 8 * std::fabs(c) + angle_error * (std::fabs(s) + angle_error);
  const double s_error = kUnit * 8 * std::fabs(s) + angle_error * (std::fabs(c) + angle_error);
  const auto combined = [](double p, double q, double errors) {
    return Estimate{p + q, errors + kUnit * (std::fabs(p) + std::fabs(q) + std::fabs(p + q)) + kTiny};
  };
  put(out, first, combined(a * c, -b * s, std::fabs(a) * c_error + std::fabs(b) * s_error));
  put(out, second, combined(a * s, b * c, std::fabs(a) * s_error + std::fabs(b) * c_error));
}

}  // namespace

Expected rope(const HostTensor& x, const RopeShape& shape, double log2_base) {
  require(shape.dim % 2 == 0 && shape.heads * shape.seq * shape.dim == x.count(),
          fmt::format("{} heads of {} positions and {} elements do not make up the {} elements of {}", shape.heads,
                      shape.seq, shape.dim, x.count(), x.name));
  const std::int64_t half = shape.dim / 2;
  const std::vector<Estimate> f = frequencies(half, log2_base, 2);
  Expected out = blank(x.count());
  parallel_for(shape.heads * shape.seq, grain_for(shape.dim * 16), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t head = i / shape.seq, s = i % shape.seq;
      const std::int64_t at = head * shape.head_stride + s * shape.seq_stride;
      if (at < 0 || at + shape.dim > x.count())
        throw Error(fmt::format("oracle: head {} at position {} lies outside {}; mend the strides", head, s, x.name));
      for (std::int64_t p = 0; p < half; ++p)
        rotate(x, at + p, at + p + half, static_cast<double>(shape.first_position + s), f[static_cast<std::size_t>(p)],
               out);
    }
  });
  return out;
}

Expected rope_llama(const HostTensor& x, std::int64_t head_dim, std::int64_t position, const LlamaRope& parameters) {
  require(head_dim > 0 && head_dim % 2 == 0 && x.count() % head_dim == 0,
          fmt::format("{} has {} elements, no whole number of heads of an even size {}", x.name, x.count(), head_dim));
  const std::int64_t half = head_dim / 2;
  // The exponent holds a logarithm (4 ulps), a product and a quotient.
  std::vector<Estimate> f = frequencies(half, std::log2(parameters.theta_base), kLogError + 3);
  for (Estimate& each : f) each = llama_frequency(each, parameters);
  Expected out = blank(x.count());
  for (std::int64_t head = 0; head < x.count() / head_dim; ++head)
    for (std::int64_t p = 0; p < half; ++p)
      rotate(x, head * head_dim + p, head * head_dim + p + half, static_cast<double>(position),
             f[static_cast<std::size_t>(p)], out);
  return out;
}

}  // namespace mt::oracle
