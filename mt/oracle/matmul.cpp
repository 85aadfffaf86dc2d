#include "mt/oracle/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mt/oracle/block.h"
#include "mt/oracle/parallel.h"
#include "mt/oracle/rounding.h"

namespace mt::oracle {
namespace {

/// The matrix as rows of what is summed over: [outer, depth].
std::vector<double> rows_of_depth(const HostTensor& t, std::int64_t outer, std::int64_t depth, bool depth_first) {
  require(t.count() == outer * depth,
          fmt::format("{} has {} elements; a product of these sizes needs {} x {}", t.name, t.count(), outer, depth));
  std::vector<double> all = read(t);
  if (!depth_first) return all;
  std::vector<double> turned(all.size());
  for (std::int64_t d = 0; d < depth; ++d)
    for (std::int64_t o = 0; o < outer; ++o)
      turned[static_cast<std::size_t>(o * depth + d)] = all[static_cast<std::size_t>(d * outer + o)];
  return turned;
}

}  // namespace

Expected matmul(const HostTensor& a, const HostTensor& b, const Matmul& p) {
  require(p.m >= 0 && p.n >= 0 && p.k >= 0, "sizes of a product can't be negative");
  const std::vector<double> left = rows_of_depth(a, p.m, p.k, p.a_transposed);
  const std::vector<double> right = rows_of_depth(b, p.n, p.k, !p.b_transposed);
  Expected out = blank(p.m * p.n);
  std::vector<char> unspecified(out.value.size());
  const double relative = kUnit * (sum_factor(p.k, p.chains) + 2);
  parallel_for(p.m, grain_for(p.n * p.k), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        const double *x = left.data() + i * p.k, *y = right.data() + j * p.k;
        double sum = 0, magnitude = 0, finite = 0;

        for (std::int64_t d = 0; d < p.k; ++d) {
          const double product = x[d] * y[d];
          sum += product;
          magnitude += std::fabs(product);
          if (std::isfinite(product)) finite += std::fabs(product);
        }
        double bound = relative * magnitude + static_cast<double>(p.k) * kTiny;
        if (p.addend) {
          const double c = p.beta * p.addend->at(i * p.n + j);
          sum = p.alpha * sum + c;
          bound = std::fabs(p.alpha) * bound + kUnit * (std::fabs(c) + std::fabs(sum)) + kTiny;
        }
        put(out, i * p.n + j, {sum, bound});
        unspecified[static_cast<std::size_t>(i * p.n + j)] =
            !std::isnan(sum) && finite > static_cast<double>(std::numeric_limits<float>::max());
      }
  });
  if (std::find(unspecified.begin(), unspecified.end(), 1) != unspecified.end())
    out.unspecified.assign(unspecified.begin(), unspecified.end());
  return out;
}

}  // namespace mt::oracle
