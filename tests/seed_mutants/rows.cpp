#include <algorithm>
#include <cmath>

#include "tests/seed_mutants/wrong_kernels.h"

namespace mt {
namespace {

using Row = std::vector<double>;

std::vector<Row> rows_of(const Inputs& in) {
  const std::int64_t rows = in.size("rows"), n = in.size("n");
  std::vector<Row> all;
  for (std::int64_t r = 0; r < rows; ++r) {
    Row row;
    for (std::int64_t i = 0; i < n; ++i) row.push_back(in["x"].at(r * n + i));
    all.push_back(std::move(row));
  }
  return all;
}
/// out[r] = f(row r), for one element a row or a row of them.
Model by_row(std::function<Row(const Inputs&, const Row&)> f) {
  return [f](const Inputs& in, Outputs& out) {
    std::int64_t at = 0;
    for (const Row& row : rows_of(in))
      for (const double v : f(in, row)) out.at("out").set(at++, v);
  };
}
double top_of(const Row& x) {
  double top = -INFINITY;
  for (const double v : x)
    if (v > top || std::isnan(v)) top = v;
  return top;
}
/// As f32 has it: overflow is infinite.
double exp_f32(double x) { return static_cast<double>(std::exp(static_cast<float>(x))); }
double mean(const Row& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}
double mean_square(const Row& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return sum / static_cast<double>(x.size());
}

struct Softmax {
  bool maximum = true, divided = true, reads = true;
  std::size_t summed = ~std::size_t{0};
};
Model softmax(Softmax f) {
  return by_row([f](const Inputs&, const Row& x) {
    const double top = f.maximum ? top_of(x) : 0;
    double total = 0;
    for (std::size_t i = 0; i < x.size() && i < f.summed; ++i)
      total += f.maximum ? std::exp(x[i] - top) : exp_f32(x[i]);
    Row result;
    for (const double v : x) {
      const double e = f.maximum ? std::exp(v - top) : exp_f32(v);
      result.push_back(!f.reads ? 1 / static_cast<double>(x.size()) : f.divided ? e / total : e);
    }
    return result;
  });
}
Model log_sum_exp(bool maximum, bool one) {
  return by_row([=](const Inputs&, const Row& x) -> Row {
    const double top = maximum ? top_of(x) : 0;
    if (std::isinf(top) || one) return {one ? x[0] : top};
    double total = 0;
    for (const double v : x) total += maximum ? std::exp(v - top) : exp_f32(v);
    return {top + std::log(total)};
  });
}

struct Norm {
  bool layer = false, ones = false, zeros = false, eps = true, weights = true, biases = true;
  bool sum = false, keeps_mean = false, one_less = false, cancels = false;
};
Model norm(Norm f) {
  return by_row([f](const Inputs& in, const Row& x) {
    const double n = static_cast<double>(x.size()), centre = f.layer ? mean(x) : 0;
    Row shifted = x;
    for (double& v : shifted) v -= centre;
    double spread = mean_square(shifted);
    if (f.sum) spread *= n;
    if (f.one_less && n > 1) spread *= n / (n - 1);
    if (f.cancels) {
      const auto square = static_cast<float>(mean_square(x)), middle = static_cast<float>(centre);
      spread = static_cast<double>(square - middle * middle);
    }
    const double scale = 1 / std::sqrt(spread + (f.eps ? in.real("eps") : 0));
    Row result;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      double v = (f.keeps_mean ? x[i] : shifted[i]) * scale * (f.weights ? in["w"].at(at) : 1);
      if (f.layer && f.biases) v += in["b"].at(at);
      result.push_back(f.ones ? 1 : f.zeros ? 0 : v);
    }
    return result;
  });
}

}  // namespace

std::vector<WrongKernel> wrong_rows() {
  return {
      {"mt_softmax", "", softmax({})},
      {"mt_softmax", "1 / n without reading", softmax({.reads = false})},
      {"mt_softmax", "maximum not taken off", softmax({.maximum = false})},
      {"mt_softmax", "not divided by the sum", softmax({.divided = false})},
      {"mt_softmax", "sum of the first 8 elements", softmax({.summed = 8})},
      {"mt_logsumexp", "", log_sum_exp(true, false)},
      {"mt_logsumexp", "one element read", log_sum_exp(true, true)},
      {"mt_logsumexp", "maximum not taken off", log_sum_exp(false, false)},
      {"mt_rms_norm", "", norm({})},
      {"mt_rms_norm", "1 without reading", norm({.ones = true})},
      {"mt_rms_norm", "eps missing", norm({.eps = false})},
      {"mt_rms_norm", "sum in place of the mean", norm({.sum = true})},
      {"mt_rms_norm", "weights missing", norm({.weights = false})},
      {"mt_layer_norm", "", norm({.layer = true})},
      {"mt_layer_norm", "0 without reading", norm({.layer = true, .zeros = true})},
      {"mt_layer_norm", "mean not taken off", norm({.layer = true, .keeps_mean = true})},
      {"mt_layer_norm", "biases missing", norm({.layer = true, .biases = false})},
      {"mt_layer_norm", "variance over n - 1", norm({.layer = true, .one_less = true})},
      {"mt_layer_norm", "variance as mean square less squared mean, in f32", norm({.layer = true, .cancels = true})},
  };
}

}  // namespace mt
