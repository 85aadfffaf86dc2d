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

/// Whether element (row, col) of a matrix `cols` wide stands in a block that counts.
bool counts(const HostTensor& mask, std::int64_t row, std::int64_t col, std::int64_t cols, std::int64_t block) {
  return mask.int_at(row / block * ((cols + block - 1) / block) + col / block) != 0;
}

/// Matrix `i` of several of rows x cols elements.
HostTensor matrix_of(const HostTensor& all, std::int64_t i, std::int64_t elements) {
  HostTensor one(all.name, all.dtype, {elements});
  const auto bytes = static_cast<std::ptrdiff_t>(one.bytes());
  std::copy_n(all.data.begin() + i * bytes, bytes, one.data.begin());
  return one;
}

/// Adds what is expected of one product to that of the ones before.
void append(Expected& all, const Expected& one) {
  if (!one.unspecified.empty() || !all.unspecified.empty()) {
    all.unspecified.resize(all.value.size());
    std::vector<bool> own = one.unspecified;
    own.resize(one.value.size());
    all.unspecified.insert(all.unspecified.end(), own.begin(), own.end());
  }
  all.value.insert(all.value.end(), one.value.begin(), one.value.end());
  all.bound.insert(all.bound.end(), one.bound.begin(), one.bound.end());
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
        const bool nothing = p.masks && !counts(*p.masks->out, i, j, p.n, p.masks->block);
        for (std::int64_t d = p.begin; d < std::min(p.k, p.end) && !nothing; ++d) {
          if (p.masks && !(counts(*p.masks->left, i, d, p.k, p.masks->block) &&
                           counts(*p.masks->right, d, j, p.n, p.masks->block)))
            continue;
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

Expected gathered_matmul(const HostTensor& a, const HostTensor& b, const HostTensor& lhs, const HostTensor& rhs,
                         const Matmul& p) {
  require(lhs.count() == rhs.count(), "every product needs two matrices");
  const auto chosen = [](const HostTensor& all, const HostTensor& numbers, std::int64_t i, std::int64_t elements) {
    return matrix_of(all, std::min(numbers.int_at(i), all.shape[0] - 1), elements);
  };
  Expected out;
  for (std::int64_t i = 0; i < lhs.count(); ++i)
    append(out, matmul(chosen(a, lhs, i, p.m * p.k), chosen(b, rhs, i, p.k * p.n), p));
  return out;
}

Expected segmented_matmul(const HostTensor& a, const HostTensor& b, const HostTensor& segments, const Matmul& p) {
  Expected out;
  for (std::int64_t i = 0; i < segments.count() / 2; ++i) {
    Matmul one = p;
    one.begin = segments.int_at(2 * i);
    one.end = segments.int_at(2 * i + 1);
    append(out, matmul(a, b, one));
  }
  return out;
}

}  // namespace mt::oracle
