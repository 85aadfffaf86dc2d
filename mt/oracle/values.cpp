#include "mt/oracle/values.h"

#include <cmath>
#include <limits>

#include "mt/base/error.h"

namespace mt::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEqual = 0.7, kSpike = 512;

/// Length of the axis before the last.
std::int64_t rows_of_axis(const HostTensor& t) { return t.shape.size() < 2 ? 1 : t.shape[t.shape.size() - 2]; }

/// Whether row `row`, counted through the whole tensor, lies in the last third of the axis before the last.
bool in_tail(const HostTensor& t, std::int64_t row) {
  const std::int64_t rows = rows_of_axis(t);
  return rows >= 3 && 3 * (row % rows) >= 2 * rows;
}

double value_at(Values values, const HostTensor& t, std::int64_t i, std::int64_t n) {
  const std::int64_t row = i / n, column = i % n;
  switch (values) {
    case Values::Declared:
      return t.at(i);
    case Values::Zeros:
      return 0;
    case Values::Ones:
      return 1;
    case Values::Equal:
      return kEqual;
    case Values::Tiny:
      return t.at(i) * 0x1p-20;
    case Values::Large:
      return t.at(i) * 0x1p6;
    case Values::Alternating:
      return i % 2 == 0 ? t.at(i) : -t.at(i - 1);  // the element before stays as it was
    case Values::Ramp:
      return static_cast<double>(i % 97) / 8 - 6;
    case Values::Rising:
      return (32 + static_cast<double>(row % rows_of_axis(t))) / 256 + t.at(i) * 0x1p-8;
    case Values::Spike:
      return column == (row * 7 + n / 2) % n ? kSpike : t.at(i) * 0x1p-8;
    case Values::MinusInf:
      return -kInfinity;
    case Values::HeadMinusInf:
      return column < (n + 1) / 2 ? -kInfinity : t.at(i);
    case Values::NanTail:
      return in_tail(t, row) ? std::nan("") : t.at(i);
  }
  MT_ICE("a pattern of values out of range");
}

}  // namespace

void lay_values(HostTensor& t, Values values) {
  if (values == Values::Declared) return;
  const std::int64_t count = t.count(), n = t.shape.empty() ? 1 : t.shape.back();
  for (std::int64_t i = 0; i < count; ++i) t.set(i, value_at(values, t, i, n));
}

}  // namespace mt::oracle
