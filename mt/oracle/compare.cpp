#include "mt/oracle/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "mt/base/error.h"
#include "mt/oracle/block.h"
#include "mt/oracle/codes.h"
#include "mt/oracle/parallel.h"

namespace mt::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Range {
  double value, low, high, bound;
};

struct Verdict {
  bool right;
  double ratio, error;
};

/// Absolute error that the store of an element in this range may add up to.
double allowed(DType dtype, const Range& r) {
  return r.bound + half_ulp(dtype, std::max(std::fabs(r.low - r.bound), std::fabs(r.high + r.bound)));
}

Verdict judge(DType dtype, const Range& r, double actual, bool signed_zeros) {
  if (std::isnan(r.value)) return std::isnan(actual) ? Verdict{true, 0, 0} : Verdict{false, kInfinity, kInfinity};
  if (std::isnan(actual)) return {false, kInfinity, kInfinity};
  if (std::isinf(r.value)) return actual == r.value ? Verdict{true, 0, 0} : Verdict{false, kInfinity, kInfinity};
  if (signed_zeros && r.value == 0 && r.bound == 0 && actual == 0 && std::signbit(r.value) != std::signbit(actual))
    return {false, kInfinity, 0};
  const double low = r.low - r.bound, high = r.high + r.bound;
  const bool right = actual > high  ? is_float(dtype) && actual == round_to(dtype, high)
                     : actual < low ? is_float(dtype) && actual == round_to(dtype, low)
                                    : true;
  if (std::isinf(actual)) return right ? Verdict{true, 1, 0} : Verdict{false, kInfinity, kInfinity};
  const double error = actual > r.high ? actual - r.high : actual < r.low ? r.low - actual : 0;
  if (error == 0) return {true, 0, 0};
  const double ratio = error / allowed(dtype, r);
  return {right, right ? std::min(ratio, 1.0) : std::max(ratio, 1 + 0x1p-20), error};
}

void check_sizes(const Expected& e, const HostTensor& actual) {
  const auto n = static_cast<std::int64_t>(e.value.size());
  require(n > 0, fmt::format("nothing to compare for {}; give the case a size above zero", actual.name));
  require(e.bound.size() == e.value.size(),
          fmt::format("{} expected values of {} have {} bounds; give each value one", n, actual.name, e.bound.size()));
  require(e.low.size() == e.high.size() && (e.low.empty() || e.low.size() == e.value.size()),
          fmt::format("alternatives of {} need a low and a high for each value", actual.name));
  require(e.unspecified.empty() || e.unspecified.size() == e.value.size(),
          fmt::format("of {}, each value or none must say whether it is specified", actual.name));
  if (e.code_bits != 0) {
    require(actual.dtype == DType::U32 && e.codes_per_row > 0 && n % e.codes_per_row == 0,
            fmt::format("packed codes of {} need u32 words and whole rows of codes", actual.name));
    const std::int64_t words = n / e.codes_per_row * words_per_row(e.codes_per_row, e.code_bits);
    require(words == actual.count(), fmt::format("{} codes of {} bits take {} words but {} has {}", n, e.code_bits,
                                                 words, actual.name, actual.count()));
  } else {
    require(n == actual.count(),
            fmt::format("{} values are expected but {} has {} elements", n, actual.name, actual.count()));
  }
}

Range range_at(const Expected& e, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  const double value = e.value[at];
  return e.low.empty() ? Range{value, value, value, e.bound[at]} : Range{value, e.low[at], e.high[at], e.bound[at]};
}

/// `[2, 17]` for an element of a tensor with several dimensions, else its index.
std::string place(const Expected& e, const HostTensor& t, std::int64_t i) {
  if (e.code_bits != 0) return fmt::format("code [{}, {}]", i / e.codes_per_row, i % e.codes_per_row);
  if (t.shape.size() < 2) return fmt::format("element {}", i);
  std::string text;
  for (std::size_t axis = t.shape.size(); axis-- > 0; i /= t.shape[axis])
    text = fmt::format("{}{}{}", i % t.shape[axis], text.empty() ? "" : ", ", text);
  return fmt::format("element [{}]", text);
}

std::string describe(const Range& r) {
  if (!std::isfinite(r.value)) return fmt::format("{}", r.value);
  if (r.low != r.high) return fmt::format("{:.9g} to {:.9g}", r.low - r.bound, r.high + r.bound);
  return r.bound == 0 ? fmt::format("{:.9g}", r.value) : fmt::format("{:.9g} ± {:.3g}", r.value, r.bound);
}

}  // namespace

CompareResult compare(const Expected& expected, const HostTensor& actual, const CompareOptions& options) {
  check_sizes(expected, actual);
  CompareResult total;
  const auto count = static_cast<std::int64_t>(expected.value.size());
  total.unspecified = std::count(expected.unspecified.begin(), expected.unspecified.end(), true);
  total.compared = count - total.unspecified;
  std::int64_t worst = 0;
  const auto value_at = [&](std::int64_t i) {
    return expected.code_bits == 0 ? actual.at(i) : code_in(actual, i, expected.code_bits, expected.codes_per_row);
  };
  std::mutex mutex;
  parallel_for(count, 64 * kBlock, [&](std::int64_t begin, std::int64_t end) {
    CompareResult part;
    std::int64_t part_worst = begin;
    double block[kBlock];
    for (std::int64_t at = begin; at < end; at += kBlock) {
      const std::int64_t n = std::min(kBlock, end - at);
      if (expected.code_bits == 0) {
        read(actual, at, n, block);
      } else {
        for (std::int64_t i = 0; i < n; ++i) block[i] = value_at(at + i);
      }
      for (std::int64_t i = 0; i < n; ++i) {
        if (!expected.unspecified.empty() && expected.unspecified[static_cast<std::size_t>(at + i)]) continue;
        const Range range = range_at(expected, at + i);
        if (!(range.bound >= 0) || std::isinf(range.bound))
          throw Error(fmt::format("oracle: {} of {} has the bound {}; it must be finite and not negative",
                                  place(expected, actual, at + i), actual.name, range.bound));
        const Verdict v = judge(actual.dtype, range, block[i], options.signed_zeros);
        if (!v.right) {
          if (part.wrong++ == 0) part.first_wrong = at + i;
        }
        if (v.ratio > part.max_error) {
          part.max_error = v.ratio;
          part_worst = at + i;
        }
        part.max_absolute_error = std::max(part.max_absolute_error, v.error);
      }
    }
    const std::lock_guard lock(mutex);
    total.wrong += part.wrong;
    if (part.wrong > 0 && (total.first_wrong < 0 || part.first_wrong < total.first_wrong))
      total.first_wrong = part.first_wrong;
    if (part.max_error > total.max_error || (part.max_error == total.max_error && part_worst < worst)) {
      total.max_error = part.max_error;
      worst = part_worst;
    }
    total.max_absolute_error = std::max(total.max_absolute_error, part.max_absolute_error);
  });
  if (total.compared == 0) {
    total.sentence = fmt::format("{}: none of {} elements is specified", actual.name, count);
    return total;
  }
  const Range at_worst = range_at(expected, worst);
  const Verdict verdict = judge(actual.dtype, at_worst, value_at(worst), options.signed_zeros);
  total.worst_error = verdict.error;
  if (std::isfinite(at_worst.value)) total.worst_bound = allowed(actual.dtype, at_worst);
  if (verdict.right) total.worst_bound = std::max(total.worst_bound, verdict.error);
  if (total.wrong > 0) {
    const std::int64_t i = total.first_wrong;
    total.sentence =
        fmt::format("{}: {} of {} are wrong, first {}: got {:.9g}, expected {}", actual.name, total.wrong,
                    total.compared, place(expected, actual, i), value_at(i), describe(range_at(expected, i)));
  } else {
    total.sentence = fmt::format("{}: {} compared, the worst at {:.3f} of what is allowed, {}", actual.name,
                                 total.compared, total.max_error, place(expected, actual, worst));
  }
  return total;
}

}  // namespace mt::oracle
