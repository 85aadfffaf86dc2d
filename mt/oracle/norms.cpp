#include "mt/oracle/norms.h"

#include <fmt/format.h>

#include <cmath>

#include "mt/oracle/rounding.h"
#include "mt/oracle/rows.h"

namespace mt::oracle {
namespace {

std::vector<double> weights(const HostTensor& w, std::int64_t n) {
  require(w.count() == n,
          fmt::format("{} has {} elements; it needs one for each of the {} columns", w.name, w.count(), n));
  return read(w);
}

}  // namespace

Expected rms_norm(const HostTensor& x, const HostTensor& w, double eps) {
  const Rows r = rows_of(x);
  const std::vector<double> weight = weights(w, r.n);
  Expected out = blank(x.count());
  each_row(x, r, [&](std::int64_t row, const std::vector<double>& v) {
    double squares = 0;
    for (const double a : v) squares += a * a;
    const double mean = squares / static_cast<double>(r.n), scale = 1 / std::sqrt(mean + eps);
    // Half of the relative error of mean + eps, then rsqrt (2 ulps) and two products.
    const double share = std::isfinite(mean) ? mean / (mean + eps) : 0;
    const double relative = kUnit * (0.5 * (sum_factor(r.n) + 3) * share + 0.5 + 4 + 2);
    for (std::int64_t i = 0; i < r.n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double value = v[at] * scale * weight[at];
      put(out, row * r.n + i, {value, std::fabs(value) * relative + kTiny});
    }
  });
  return out;
}

Expected layer_norm(const HostTensor& x, const HostTensor& w, const HostTensor& b, double eps) {
  const Rows r = rows_of(x);
  const std::vector<double> weight = weights(w, r.n), bias = weights(b, r.n);
  Expected out = blank(x.count());
  each_row(x, r, [&](std::int64_t row, const std::vector<double>& v) {
    const auto n = static_cast<double>(r.n);
    double sum = 0, magnitude = 0, squares = 0;
    for (const double a : v) {
      sum += a;
      magnitude += std::fabs(a);
    }
    const double mean = sum / n;
    for (const double a : v) squares += (a - mean) * (a - mean);
    const double variance = squares / n, scale = 1 / std::sqrt(variance + eps);
    const double mean_error = kUnit * ((sum_factor(r.n) + 1) * magnitude / n + std::fabs(mean));
    // Squares of differences that round once and miss the mean by mean_error: first order cancels over the row.
    const double variance_error = kUnit * (sum_factor(r.n) + 5) * variance + 2 * mean_error * mean_error;
    const double scale_relative = 0.5 * variance_error / (variance + eps) + kUnit * (0.5 + 4);
    for (std::int64_t i = 0; i < r.n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double centred = v[at] - mean, scaled = centred * scale * weight[at], value = scaled + bias[at];
      const double centred_error = mean_error + kUnit * std::fabs(centred);
      const double error =
          centred_error * scale * std::fabs(weight[at]) + std::fabs(scaled) * (scale_relative + 2 * kUnit);
      put(out, row * r.n + i, {value, error + kUnit * std::fabs(value) + kTiny});
    }
  });
  return out;
}

}  // namespace mt::oracle
