#include "mt/oracle/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mt/oracle/rounding.h"
#include "mt/oracle/rows.h"

namespace mt::oracle {
namespace {

/// A reduction of the elements seen so far.
class Running {
 public:
  /// `chains`: of a sum, see sum_factor.
  explicit Running(Reduction op, double chains = 64) : op_(op), chains_(chains) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double starts[] = {0, 1, -inf, inf};
    value_ = starts[static_cast<int>(op)];
  }
  void add(double x) {
    ++count_;
    int exponent = 0;
    rounding_ += std::fabs(std::frexp(x, &exponent)) != 0.5;
    combine(x, std::fabs(x));
  }
  void merge(const Running& other) {
    count_ += other.count_;
    rounding_ += other.rounding_;
    combine(other.value_, other.magnitude_);
  }
  Estimate estimate() const {
    switch (op_) {
      case Reduction::Sum:
        return {value_, sum_factor(count_, chains_) * kUnit * magnitude_};
      case Reduction::Prod:
        return {value_, product_error() * std::fabs(value_) + (count_ > 1 ? kTiny : 0)};
      default:
        return {value_, 0};
    }
  }

 private:
  void combine(double x, double magnitude) {
    switch (op_) {
      case Reduction::Sum:
        value_ += x;
        magnitude_ += magnitude;
        break;
      case Reduction::Prod:
        value_ *= x;
        break;
      case Reduction::Max:
        if (x > value_ || std::isnan(x)) value_ = x;
        break;
      case Reduction::Min:
        if (x < value_ || std::isnan(x)) value_ = x;
        break;
    }
  }
  /// Relative error of the product in any order: one rounding less than there are factors that are no powers of two,
  /// since those multiply exactly. All roundings may go one way: where factors are near 1, and with them the partial
  /// products, the errors repeat, so they can't be counted on to cancel as those of a sum are.
  double product_error() const {
    return std::expm1(kUnit * static_cast<double>(std::max<std::int64_t>(rounding_ - 1, 0)));
  }

  Reduction op_;
  double chains_;
  double value_, magnitude_ = 0;
  std::int64_t count_ = 0, rounding_ = 0;  // elements; factors that are no powers of two
};

Expected extreme_index(const HostTensor& x, const Rows& r, bool largest) {
  require(r.n > 0, fmt::format("{} has rows without elements; an index of their extreme needs at least one", x.name));
  Expected out = blank(r.rows);
  each_row(x, r, [&](std::int64_t i, const std::vector<double>& row) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < row.size() && !std::isnan(row[best]); ++k)
      if (std::isnan(row[k]) || (largest ? row[k] > row[best] : row[k] < row[best])) best = k;
    put(out, i, {static_cast<double>(best), 0});
  });
  return out;
}

Rows whole(const HostTensor& x) { return {1, x.count()}; }

}  // namespace

Expected row_reduce(Reduction op, const HostTensor& x) {
  const Rows r = rows_of(x);
  Expected out = blank(r.rows);
  each_row(x, r, [&](std::int64_t i, const std::vector<double>& row) {
    Running running(op);
    for (const double v : row) running.add(v);
    put(out, i, running.estimate());
  });
  return out;
}

Expected all_reduce(Reduction op, const HostTensor& x) {
  const std::int64_t count = x.count(), piece = 64 * kBlock;
  // Threadgroups with hundreds of running sums each, as many as keep these 32 long; at least 2^15 where they are
  // longer.
  const double chains = std::clamp(static_cast<double>(count) / 32, 64.0, 0x1p15);
  std::vector<Running> parts(static_cast<std::size_t>((count + piece - 1) / piece), Running(op, chains));
  parallel_for(count, piece, [&](std::int64_t begin, std::int64_t end) {
    Running& part = parts[static_cast<std::size_t>(begin / piece)];
    double block[kBlock];
    for (std::int64_t at = begin; at < end; at += kBlock) {
      const std::int64_t n = std::min(kBlock, end - at);
      read(x, at, n, block);
      for (std::int64_t i = 0; i < n; ++i) part.add(block[i]);
    }
  });
  Running total(op, chains);
  for (const Running& part : parts) total.merge(part);
  Expected out = blank(1);
  put(out, 0, total.estimate());
  return out;
}

Expected scan(Reduction op, ScanKind kind, const HostTensor& x) {
  const Rows r = rows_of(x);
  Expected out = blank(x.count());
  each_row(x, r, [&](std::int64_t i, const std::vector<double>& row) {
    Running running(op);
    std::int64_t at = i * r.n;
    for (const double v : row) {
      if (kind == ScanKind::Exclusive) put(out, at, running.estimate());
      running.add(v);
      if (kind == ScanKind::Inclusive) put(out, at, running.estimate());
      ++at;
    }
  });
  return out;
}

Expected arg_max(const HostTensor& x) { return extreme_index(x, rows_of(x), true); }
Expected arg_min(const HostTensor& x) { return extreme_index(x, rows_of(x), false); }
Expected arg_max_all(const HostTensor& x) { return extreme_index(x, whole(x), true); }
Expected arg_min_all(const HostTensor& x) { return extreme_index(x, whole(x), false); }

Expected sort_rows(const HostTensor& x) {
  const Rows r = rows_of(x);
  Expected out = blank(x.count());
  each_row(x, r, [&](std::int64_t i, const std::vector<double>& row) {
    const auto target = out.value.begin() + i * r.n;
    std::copy(row.begin(), row.end(), target);
    std::stable_sort(target, target + r.n,
                     [](double a, double b) { return a < b || (!std::isnan(a) && std::isnan(b)); });
  });
  return out;
}

}  // namespace mt::oracle
