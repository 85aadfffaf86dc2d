#include "mt/harness/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mt {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Summary summarise(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.5), quantile(samples, 0.25), quantile(samples, 0.75), samples.front(), samples.size()};
}

double median_uncertainty(std::vector<double> samples) {
  // The number of samples below the true median is binomial; 1.96 standard deviations around n/2 cover 95 %.
  const auto n = static_cast<double>(samples.size());
  const double low = std::floor(n / 2 - 0.98 * std::sqrt(n)), high = std::ceil(n / 2 + 0.98 * std::sqrt(n));
  if (low < 0 || high > n - 1 || samples.size() < 6) return std::numeric_limits<double>::infinity();
  std::sort(samples.begin(), samples.end());
  const double median = quantile(samples, 0.5);
  if (median <= 0) return std::numeric_limits<double>::infinity();
  return (samples[static_cast<std::size_t>(high)] - samples[static_cast<std::size_t>(low)]) / 2 / median;
}

bool StoppingCriterion::enough(const std::vector<double>& samples, double spent) const {
  if (samples.size() >= most) return true;
  if (spent >= seconds && samples.size() >= std::min<std::size_t>(least, 5)) return true;
  return samples.size() >= least && median_uncertainty(samples) <= uncertainty;
}

}  // namespace mt
