#include "mt/oracle/quantise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mt/base/error.h"
#include "mt/oracle/codes.h"
#include "mt/oracle/rounding.h"
#include "mt/oracle/rows.h"

namespace mt::oracle {
namespace {

constexpr double kLargest = std::numeric_limits<float>::max();

std::int64_t groups_in(std::int64_t row, std::int64_t group) { return (row + group - 1) / group; }

void check_format(int bits, std::int64_t group) {
  require(bits >= 1 && bits <= 8, fmt::format("codes of {} bits are not known; use 1 to 8", bits));
  require(group > 0, fmt::format("a group of {} elements is empty; use at least 1", group));
}

/// Packed codes of a matrix with what they mean, row by row.
struct Matrix {
  const HostTensor& words;
  FloatWeights format;  // Codes::Integers and Scales::Numbers where affine
  std::int64_t rows, columns;
  std::vector<double> scales, biases;

  Matrix(const HostTensor& w, const HostTensor& s, const HostTensor* b, const FloatWeights& weights, std::int64_t row)
      : words(w), format(weights), rows(0), columns(row) {
    check_format(format.bits, format.group);
    const std::int64_t width = words_per_row(columns, format.bits);
    require(w.dtype == DType::U32 && columns > 0 && w.count() % width == 0,
            fmt::format("{} does not hold whole rows of {} codes of {} bits", w.name, columns, format.bits));
    rows = w.count() / width;
    const std::int64_t groups = rows * groups_in(columns, format.group);
    require(s.count() == groups && (!b || b->count() == groups),
            fmt::format("{} rows of {} codes in groups of {} need {} scales{}, not {}", rows, columns, format.group,
                        groups, b ? " and biases" : "", s.count()));
    require((format.scales == Scales::Numbers) == (s.dtype != DType::U8), "scales of floating-point codes are bytes");
    scales = read(s);
    for (double& scale : scales) {
      if (format.scales == Scales::E8m0) scale = e8m0(static_cast<std::uint32_t>(scale));
      if (format.scales == Scales::E4m3) scale = e4m3(static_cast<std::uint32_t>(scale));
    }
    biases = b ? read(*b) : std::vector<double>(scales.size());
  }
  bool affine() const { return format.codes == Codes::Integers; }
  /// Calls f(column, code, scale, bias) along a row.
  template <class F>
  void along(std::int64_t row, F f) const {
    const std::uint32_t* packed = words.as<std::uint32_t>() + row * words_per_row(columns, format.bits);
    for (std::int64_t g = 0; g < groups_in(columns, format.group); ++g) {
      const auto at = static_cast<std::size_t>(row * groups_in(columns, format.group) + g);
      for (std::int64_t k = g * format.group; k < std::min(columns, (g + 1) * format.group); ++k) {
        const std::uint32_t code = code_at(packed, k, format.bits);
        f(static_cast<std::size_t>(k),
          format.codes == Codes::E2m1   ? e2m1(code)
          : format.codes == Codes::E4m3 ? e4m3(code)
                                        : static_cast<double>(code),
          scales[at], biases[at]);
      }
    }
  }
  /// What a product of a code and its scale may lose where targets take numbers below the normal range for 0.
  static double flushed(double scale, double weight) {
    return std::fabs(scale) < kTiny || std::fabs(weight) < kTiny ? std::fabs(weight) : 0;
  }
};

FloatWeights affine(int bits, std::int64_t group) {
  return {.bits = bits, .group = group, .codes = Codes::Integers, .scales = Scales::Numbers};
}

}  // namespace

QuantisedExpected affine_quantise(const HostTensor& x, int bits, std::int64_t group) {
  check_format(bits, group);
  const Rows r = rows_of(x);
  const std::int64_t groups = groups_in(r.n, group);
  const double top = std::exp2(bits) - 1;
  QuantisedExpected out{blank(x.count()), blank(r.rows * groups), blank(r.rows * groups)};
  out.words.code_bits = bits;
  out.words.codes_per_row = r.n;
  out.words.low = out.words.high = out.words.value;
  const auto one_row = [&](std::int64_t row, const std::vector<double>& v) {
    for (std::int64_t g = 0; g < groups; ++g) {
      const auto begin = v.begin() + g * group, end = v.begin() + std::min(r.n, (g + 1) * group);
      for (auto it = begin; it != end; ++it)
        if (!std::isfinite(*it))
          throw Error(fmt::format("oracle: {} holds {} in row {}; only finite values have codes", x.name, *it, row));
      const auto [lo, hi] = std::minmax_element(begin, end);
      const double bias = *lo, step = (*hi - bias) / top;
      const double scale = step < 1e-7 ? 1 : step;
      put(out.scales, row * groups + g, {scale, scale == 1 ? 0 : 2 * kUnit * scale});
      put(out.biases, row * groups + g, {bias, 0});
      for (auto it = begin; it != end; ++it) {
        const double position = (*it - bias) / scale + 0.5;
        // Difference, scale (2), quotient or product with the reciprocal (2), sum.
        const double error = 6 * kUnit * position;
        const auto at = static_cast<std::size_t>(row * r.n + (it - v.begin()));
        out.words.value[at] = std::clamp(std::floor(position), 0.0, top);
        out.words.low[at] = std::clamp(std::floor(position - error), 0.0, top);
        out.words.high[at] = std::clamp(std::floor(position + error), 0.0, top);
      }
    }
  };
  each_row(x, r, one_row, 8);
  return out;
}

Expected affine_dequantise(const HostTensor& words, const HostTensor& scales, const HostTensor& biases, int bits,
                           std::int64_t group, std::int64_t row) {
  const Matrix w(words, scales, &biases, affine(bits, group), row);
  Expected out = blank(w.rows * w.columns);
  parallel_for(w.rows, grain_for(w.columns * 4), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      w.along(i, [&](std::size_t k, double code, double scale, double bias) {
        const double product = scale * code, value = product + bias;
        put(out, i * w.columns + static_cast<std::int64_t>(k),
            {value, kUnit * (std::fabs(product) + std::fabs(value)) + 0x1p-149});
      });
  });
  return out;
}

Expected float_dequantise(const HostTensor& words, const HostTensor& scales, const FloatWeights& weights,
                          std::int64_t row) {
  const Matrix w(words, scales, nullptr, weights, row);
  Expected out = blank(w.rows * w.columns);
  parallel_for(w.rows, grain_for(w.columns * 4), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      w.along(i, [&](std::size_t k, double code, double scale, double) {
        const double factor = weights.factor, value = factor * (scale * code);
        // Scale and factor round once together, their product with the code again.
        const double rounded = factor == 1 ? 0 : 2 * kUnit * std::fabs(value) + 0x1p-149;
        const double lost =
            std::fabs(factor) * Matrix::flushed(scale, scale * code) + Matrix::flushed(factor * scale, value);
        put(out, i * w.columns + static_cast<std::int64_t>(k), {value, rounded + lost});
      });
  });
  return out;
}

namespace {

Expected product(const HostTensor& x, const HostTensor& words, const HostTensor& scales, const HostTensor* biases,
                 const FloatWeights& format, const OperandRounding& rounding, double chains) {
  const Rows r = rows_of(x);
  if (r.n == 0) return blank(x.shape[0] * words.shape[0]);  // sums of nothing
  const Matrix w(words, scales, biases, format, r.n);
  const std::vector<double> input = read(x);
  Expected out = blank(r.rows * w.rows);
  std::vector<char> unspecified(out.value.size());
  const auto largest = [](double a, double b) { return std::isnan(a) || a > b ? a : b; };
  std::vector<double> farthest(static_cast<std::size_t>(r.rows));  // the largest |x| of a row, or NaN
  for (std::int64_t m = 0; m < r.rows; ++m)
    for (std::int64_t k = 0; k < r.n; ++k)
      farthest[static_cast<std::size_t>(m)] =
          largest(std::fabs(input[static_cast<std::size_t>(m * r.n + k)]), farthest[static_cast<std::size_t>(m)]);
  // Scaling, the bias and their product with x round a few times each on top of the sum.
  const double relative = kUnit * (sum_factor(r.n, chains) + 5);
  parallel_for(w.rows, grain_for(w.columns * (4 + r.rows)), [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> weight(static_cast<std::size_t>(w.columns)), magnitude = weight, loss = weight;
    for (std::int64_t n = begin; n < end; ++n) {
      double reach = 0;  // what any sum may come to, for each unit of x
      bool nan = false, overflows = false;
      w.along(n, [&](std::size_t k, double code, double scale, double bias) {
        weight[k] = scale * code + bias;
        magnitude[k] = std::fabs(scale * code) + std::fabs(bias);
        // What affine weights are in f32 is not known to the last bit; those of floating-point codes are exact there.
        loss[k] = w.affine()
                      ? rounding.relative * std::fabs(weight[k]) + rounding.floor
                      : std::fabs(weight[k] - round_to(rounding.dtype, weight[k])) + Matrix::flushed(scale, weight[k]);
        overflows = overflows || std::fabs(weight[k]) > rounding.largest;
        nan = nan || std::isnan(code) || std::isnan(scale) || std::isnan(bias);
        reach +=
            (std::max(1.0, std::fabs(scale)) + 1) * std::max(std::fabs(code), 1.0) + 2 * std::max(1.0, std::fabs(bias));
      });
      for (std::int64_t m = 0; m < r.rows; ++m) {
        const double* row = input.data() + m * r.n;
        double sum = 0, total = 0, lost = 0;
        for (std::size_t k = 0; k < weight.size(); ++k) {
          sum += weight[k] * row[k];
          total += magnitude[k] * std::fabs(row[k]);
          lost += loss[k] * std::fabs(row[k]);
        }
        const double most = farthest[static_cast<std::size_t>(m)] * reach;
        const bool missing = nan || std::isnan(farthest[static_cast<std::size_t>(m)]);
        const double result = format.factor * sum, rounded = format.factor == 1 ? 0 : 2 * kUnit * std::fabs(result);
        put(out, m * w.rows + n,
            {missing ? std::nan("") : result, std::fabs(format.factor) * (relative * total + lost) + rounded});
        unspecified[static_cast<std::size_t>(m * w.rows + n)] = !missing && (overflows || !(most <= kLargest));
      }
    }
  });
  if (std::find(unspecified.begin(), unspecified.end(), 1) != unspecified.end())
    out.unspecified.assign(unspecified.begin(), unspecified.end());
  return out;
}

Expected product_of_experts(const HostTensor& x, const HostTensor& words, const HostTensor& scales,
                            const HostTensor* biases, const HostTensor& offsets, const FloatWeights& format,
                            const OperandRounding& rounding, double chains) {
  const std::int64_t rows = x.shape[0], experts = words.shape[0], columns = words.shape[1];
  require(offsets.count() == experts + 1, "the list of experts has one offset more than there are experts");
  /// `count` of the `all` equal parts of t from part `first` on, of shape `shape`.
  const auto part = [](const HostTensor& t, std::int64_t first, std::int64_t count, std::int64_t all,
                       std::vector<std::int64_t> shape) {
    HostTensor p(t.name, t.dtype, std::move(shape));
    const std::size_t bytes = all == 0 ? 0 : t.data.size() / static_cast<std::size_t>(all);
    std::copy_n(t.data.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(first) * bytes),
                static_cast<std::size_t>(count) * bytes, p.data.begin());
    return p;
  };
  Expected out;
  std::vector<bool> unspecified;
  for (std::int64_t e = 0; e < experts; ++e) {
    const std::int64_t begin = e == 0 ? 0 : std::min(offsets.int_at(e), rows);
    const std::int64_t end = e + 1 == experts ? rows : std::min(offsets.int_at(e + 1), rows);
    require(begin <= end && begin * columns == static_cast<std::int64_t>(out.value.size()),
            "the offsets of experts must ascend");
    if (begin == end) continue;
    const auto own = [&](const HostTensor& t) { return part(t, e, 1, experts, {t.shape[1], t.shape[2]}); };
    const HostTensor own_biases = biases ? own(*biases) : HostTensor{};
    const Expected one = product(part(x, begin, end - begin, rows, {end - begin, x.shape[1]}), own(words), own(scales),
                                 biases ? &own_biases : nullptr, format, rounding, chains);
    out.value.insert(out.value.end(), one.value.begin(), one.value.end());
    out.bound.insert(out.bound.end(), one.bound.begin(), one.bound.end());
    unspecified.insert(unspecified.end(), one.unspecified.begin(), one.unspecified.end());
    unspecified.resize(out.value.size());
  }
  if (std::find(unspecified.begin(), unspecified.end(), true) != unspecified.end())
    out.unspecified = std::move(unspecified);
  return out;
}

}  // namespace

Expected quantised_matmul(const HostTensor& x, const HostTensor& words, const HostTensor& scales,
                          const HostTensor& biases, int bits, std::int64_t group, const OperandRounding& rounding,
                          double chains) {
  return product(x, words, scales, &biases, affine(bits, group), rounding, chains);
}
Expected float_quantised_matmul(const HostTensor& x, const HostTensor& words, const HostTensor& scales,
                                const FloatWeights& weights, const OperandRounding& rounding, double chains) {
  return product(x, words, scales, nullptr, weights, rounding, chains);
}
Expected quantised_matmul_of_experts(const HostTensor& x, const HostTensor& words, const HostTensor& scales,
                                     const HostTensor& biases, const HostTensor& offsets, int bits, std::int64_t group,
                                     const OperandRounding& rounding, double chains) {
  return product_of_experts(x, words, scales, &biases, offsets, affine(bits, group), rounding, chains);
}
Expected float_quantised_matmul_of_experts(const HostTensor& x, const HostTensor& words, const HostTensor& scales,
                                           const HostTensor& offsets, const FloatWeights& weights,
                                           const OperandRounding& rounding, double chains) {
  return product_of_experts(x, words, scales, nullptr, offsets, weights, rounding, chains);
}

}  // namespace mt::oracle
