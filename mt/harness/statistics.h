// What a list of timings says, and when there are enough of them.
#pragma once
#include <cstddef>
#include <vector>

namespace mt {

struct Summary {
  double median = 0, p25 = 0, p75 = 0, least = 0;
  std::size_t count = 0;
  /// (p75 - p25) / median: how far the middle half of the samples lies apart.
  double spread() const { return median > 0 ? (p75 - p25) / median : 0; }
};
/// Quantiles by linear interpolation between order statistics. All zero for no samples.
Summary summarise(std::vector<double> samples);

/// Half the width of the 95 % confidence interval of the median (by order statistics, no distribution assumed),
/// relative to the median; infinite below 6 samples.
double median_uncertainty(std::vector<double> samples);

/// Decides after each sample whether to go on.
struct StoppingCriterion {
  std::size_t least = 10, most = 1000;
  double seconds = 2;         // budget for all samples
  double uncertainty = 0.01;  // good enough
  bool enough(const std::vector<double>& samples, double spent) const;
};

}  // namespace mt
