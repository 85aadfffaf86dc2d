#include "tests/conformance/values.h"

#include <cmath>
#include <limits>
#include <random>

#include "mt/ir/edit.h"

namespace mt {
namespace {

constexpr std::size_t kMany = 65536, kSome = 8192;

std::vector<std::uint64_t> edges(DType t) {
  std::vector<std::uint64_t> all;
  const std::uint64_t mask = bits_of(t) == 64 ? ~0ull : (1ull << bits_of(t)) - 1;
  if (t == DType::Bool) return {0, 1};
  if (is_float(t)) {
    for (const double v : {0.0,
                           1.0,
                           0.5,
                           1.5,
                           2.0,
                           2.5,
                           3.0,
                           3.5,
                           10.0,
                           0.99999994,
                           1.00000012,
                           0.1,
                           1e-3,
                           1e-30,
                           1e-40,
                           1.17549435e-38,
                           6e-8,
                           88.7,
                           88.8,
                           103.9,
                           104.1,
                           127.0,
                           127.5,
                           128.0,
                           128.5,
                           149.0,
                           150.0,
                           255.9,
                           256.0,
                           1.5707964,
                           3.1415927,
                           6.2831855,
                           65504.0,
                           65520.0,
                           131071.0,
                           131072.5,
                           1e5,
                           4194303.5,
                           8388607.5,
                           16777216.0,
                           2147483648.0,
                           4294967296.0,
                           9.3e18,
                           1.9e19,
                           1e22,
                           1e30,
                           3e38,
                           3.4028235e38,
                           static_cast<double>(INFINITY)})
      for (const double s : {v, -v}) all.push_back(bits_of(t, s));
    all.push_back(bits_of(t, static_cast<double>(NAN)));
    all.push_back(1);  // the smallest subnormal
    all.push_back(1 | 1ull << (bits_of(t) - 1));
    return all;
  }
  for (const std::int64_t v : {0,   1,   2,   3,   5,   7,  8,  15, 16, 31, 32,  33,  63,   64,  65,
                               100, 127, 128, 255, 256, -1, -2, -3, -7, -8, -31, -32, -127, -128})
    all.push_back(static_cast<std::uint64_t>(v) & mask);
  for (const std::uint64_t top : {mask, mask >> 1}) {
    all.push_back(top);
    all.push_back(top - 1);
    all.push_back((top + 1) & mask);
    all.push_back((top + 2) & mask);
  }
  return all;
}

}  // namespace

std::vector<std::uint64_t> operand_values(DType t, int k, int operands) {
  const auto width = static_cast<std::uint64_t>(bits_of(t));
  const std::uint64_t mask = width == 64 ? ~0ull : (1ull << width) - 1;
  std::vector<std::uint64_t> all;
  if (operands == 1 && width <= 16) {
    for (std::uint64_t v = 0; v < std::max<std::uint64_t>(mask + 1, 1024); ++v) all.push_back(v & mask);
    return all;
  }
  const std::vector<std::uint64_t> edge = edges(t);
  const std::size_t n = edge.size(), count = operands == 1 ? kMany : std::max(kSome, (n * n + 1023) / 1024 * 1024);
  std::mt19937_64 random(static_cast<std::uint64_t>(k) * 977 + width);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t crossed = k == 0 ? i % n : k == 1 ? i / n % n : (i / n + 7 * i) % n;
    const std::uint64_t r = random();
    if (i < (operands == 1 ? n : n * n) && i < count / 2 * 2)
      all.push_back(edge[crossed]);
    else if (operands == 1)  // every exponent, from all patterns in turn
      all.push_back((static_cast<std::uint64_t>(i) * (mask / count) + r % (mask / count)) & mask);
    else if (is_float(t) && r % 3 != 0)  // of a size that functions care about
      all.push_back(
          bits_of(t, std::ldexp(static_cast<double>((r >> 8) % 40001) - 20000.0, static_cast<int>(i % 20) - 16)));
    else
      all.push_back((r >> 3) & mask);
  }
  return all;
}

}  // namespace mt
