#include "tests/conformance/values.h"

#include <algorithm>
#include <bit>
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

/// Edges of the functions, all exponents and signs in even steps, and where the functions are hard.
std::vector<float> swept(Op op) {
  std::vector<float> v;
  for (const float e : {0.0f,
                        1.0f,
                        0.5f,
                        2.0f,
                        3.0f,
                        10.0f,
                        88.7f,
                        88.8f,
                        103.9f,
                        104.1f,
                        126.0f,
                        127.0f,
                        128.0f,
                        149.0f,
                        150.0f,
                        131071.0f,
                        1e5f,
                        8388607.5f,
                        4194303.5f,
                        1e30f,
                        3.4028235e38f,
                        1e-45f,
                        1.17549435e-38f,
                        1e-40f,
                        0.92f,
                        0.999999940395f,
                        1.00000012f,
                        HUGE_VALF,
                        NAN,
                        0.41421357f,
                        2.4142137f,
                        1.5707964f,
                        3.1415927f,
                        6.2831855f})
    for (const float s : {e, -e}) v.push_back(s);
  const std::uint32_t stride =
      op == Op::Exp || op == Op::FastExp || op == Op::Log || op == Op::Sin || op == Op::Cos ? 4099u : 65537u;
  for (std::uint64_t b = 0; b < (1ull << 32); b += stride)
    v.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(b)));
  std::mt19937 random(7);
  for (int i = 0; i < 60000; ++i) {
    v.push_back(std::uniform_real_distribution<float>(-1.001f, 1.001f)(random));
    v.push_back(std::uniform_real_distribution<float>(-105, 90)(random));
    v.push_back(1 + std::uniform_real_distribution<float>(-0.01f, 0.5f)(random));
  }
  v.resize((v.size() + 255) / 256 * 256, 1.0f);
  return v;
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

std::vector<std::vector<std::uint64_t>> sweep(Op op) {
  std::vector<float> x = swept(op), y = x;
  if (info(op).arity == 2) {
    std::mt19937 random(3);
    std::shuffle(y.begin(), y.end(), random);
    const std::vector<float> crossed(x.begin(), x.begin() + 68);
    for (const float a : crossed)
      for (const float c : crossed) x.push_back(a), y.push_back(c);
    for (int i = 0; i < 100000; ++i) {
      x.push_back(std::uniform_real_distribution<float>(-20, 20)(random));
      const float to = std::uniform_real_distribution<float>(-30, 30)(random);
      y.push_back(i % 3 ? to : std::round(to));
    }
  }
  const auto bits = [](const std::vector<float>& values) {
    std::vector<std::uint64_t> all;
    for (const float f : values) all.push_back(std::bit_cast<std::uint32_t>(f));
    return all;
  };
  if (info(op).arity == 2) return {bits(x), bits(y)};
  return {bits(x)};
}

}  // namespace mt
