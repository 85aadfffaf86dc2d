#include "mt/oracle/softmax.h"

#include <cmath>
#include <limits>

#include "mt/oracle/rounding.h"
#include "mt/oracle/rows.h"

namespace mt::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Maximum and sum of exp(x - maximum) of a row, and the relative error of that sum in an f32 computation.
struct Row {
  double top = -kInfinity, sum = 0, sum_error = 0;
};

Row measure(const std::vector<double>& x) {
  Row r;
  for (const double v : x)
    if (v > r.top || std::isnan(v)) r.top = v;
  if (!std::isfinite(r.top)) return r;
  double spread = 0;
  for (const double v : x) {
    if (v == -kInfinity) continue;
    const double e = std::exp(v - r.top);
    r.sum += e;
    spread += e * exp_error(v - r.top);
  }
  r.sum_error = spread / r.sum + kUnit * (sum_factor(static_cast<std::int64_t>(x.size())) + kRescaleError);
  return r;
}

}  // namespace

Expected softmax(const HostTensor& x, double exp_loss) {
  const Rows r = rows_of(x);
  Expected out = blank(x.count());
  const auto one_row = [&](std::int64_t row, const std::vector<double>& values) {
    const Row m = measure(values);
    std::int64_t at = row * r.n;
    for (const double v : values) {
      const double gap = v - m.top;
      if (!std::isfinite(m.top)) {
        put(out, at++, {std::nan(""), 0});
      } else if (v == -kInfinity) {
        put(out, at++, {0, 0});
      } else {
        const double p = std::exp(gap) / m.sum;
        put(out, at++, {p, p * (exp_error(gap) + m.sum_error + 2 * exp_loss + 2 * kUnit) + kTiny});
      }
    }
  };
  each_row(x, r, one_row, 4);
  return out;
}

Expected logsumexp(const HostTensor& x, double exp_loss) {
  const Rows r = rows_of(x);
  Expected out = blank(r.rows);
  const auto one_row = [&](std::int64_t row, const std::vector<double>& values) {
    const Row m = measure(values);
    const double tail = std::isfinite(m.top) ? std::log(m.sum) : 0, value = m.top + tail;
    put(out, row, {value, m.sum_error + exp_loss + kUnit * (kLogError * tail + std::fabs(value)) + kTiny});
  };
  each_row(x, r, one_row, 4);
  return out;
}

}  // namespace mt::oracle
