#include <algorithm>
#include <cmath>

#include "tests/seed_mutants/wrong_kernels.h"

namespace mt {
namespace {

using Combination = double (*)(double, double);
double plus(double a, double b) { return a + b; }
double times(double a, double b) { return a * b; }
double greater(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// Each row from `first`, over elements begin … end of it as given for n.
Model reduce(Combination combine, double first, bool all_row_0 = false, std::int64_t most = -1, double result = 1) {
  return [=](const Inputs& in, Outputs& out) {
    const std::int64_t rows = in.size("rows"), n = in.size("n");
    for (std::int64_t r = 0; r < rows; ++r) {
      double v = first;
      for (std::int64_t i = 0; i < (most < 0 ? n : std::min(most, n)); ++i)
        v = combine(v, in["x"].at((all_row_0 ? 0 : r) * n + i));
      out.at("out").set(r, v * result);
    }
  };
}
Model reduce_all(bool half) {
  return [=](const Inputs& in, Outputs& out) {
    double sum = 0;
    for (std::int64_t i = 0; i < (half ? (in.size("n") + 1) / 2 : in.size("n")); ++i) sum += in["x"].at(i);
    out.at("out").set(0, sum);
  };
}
Model greatest(bool last) {
  return [=](const Inputs& in, Outputs& out) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < in.size("n"); ++i) {
      const double now = in["x"].at(i), then = in["x"].at(best);
      if (std::isnan(then)) continue;
      if (std::isnan(now) || now > then || (last && now == then)) best = i;
    }
    out.at("out").set_int(0, best);
  };
}

bool before(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }
Model sort(std::function<void(std::vector<double>&)> f) {
  return [f](const Inputs& in, Outputs& out) {
    const std::int64_t rows = in.size("rows"), n = in.size("n");
    for (std::int64_t r = 0; r < rows; ++r) {
      std::vector<double> row;
      for (std::int64_t i = 0; i < n; ++i) row.push_back(in["x"].at(r * n + i));
      f(row);
      for (std::int64_t i = 0; i < n; ++i) out.at("out").set(r * n + i, row[static_cast<std::size_t>(i)]);
    }
  };
}
void sorted(std::vector<double>& row) { std::sort(row.begin(), row.end(), before); }

Model scan(std::int64_t chunk, bool exclusive) {
  return [=](const Inputs& in, Outputs& out) {
    const std::int64_t rows = in.size("rows"), n = in.size("n");
    for (std::int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        if (i % chunk == 0) sum = 0;
        const double next = sum + in["x"].at(r * n + i);
        out.at("out").set(r * n + i, exclusive ? sum : next);
        sum = next;
      }
    }
  };
}

}  // namespace

std::vector<WrongKernel> wrong_reductions() {
  constexpr std::int64_t kEndless = std::int64_t{1} << 40;
  return {
      {"mt_row_reduce", "", reduce(plus, 0)},
      {"mt_row_reduce", "every row is row 0", reduce(plus, 0, true)},
      {"mt_row_reduce", "0.4 % low", reduce(plus, 0, false, -1, 0.996)},
      {"mt_row_reduce_prod", "", reduce(times, 1)},
      {"mt_row_reduce_prod", "0 without reading", reduce(times, 0)},
      {"mt_row_reduce_max", "", reduce(greater, -INFINITY)},
      {"mt_row_reduce_max", "first 8 elements", reduce(greater, -INFINITY, false, 8)},
      {"mt_all_reduce", "", reduce_all(false)},
      {"mt_all_reduce", "first half", reduce_all(true)},
      {"mt_argmax", "", greatest(false)},
      {"mt_argmax", "last of equal ones", greatest(true)},
      {"mt_sort", "", sort(sorted)},
      {"mt_sort", "zeros", sort([](std::vector<double>& row) { std::fill(row.begin(), row.end(), 0.0); })},
      {"mt_sort", "one value over and over",
       sort([](std::vector<double>& row) { std::fill(row.begin(), row.end(), row[0]); })},
      {"mt_sort", "only reversed", sort([](std::vector<double>& row) { std::reverse(row.begin(), row.end()); })},
      {"mt_scan", "", scan(kEndless, false)},
      {"mt_scan", "carry lost after 1024", scan(1024, false)},
      {"mt_scan", "exclusive", scan(kEndless, true)},
  };
}

}  // namespace mt
