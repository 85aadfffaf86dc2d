#include "mt/oracle/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "mt/base/hash.h"
#include "mt/oracle/block.h"
#include "mt/oracle/parallel.h"

namespace mt::oracle {
namespace {

/// A bijection of 64-bit numbers whose results pass for random: two rounds of multiply and shift (the finaliser of
/// SplitMix64, Steele et al. 2014).
constexpr std::uint64_t scramble(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

struct Source {
  std::uint64_t key;
  std::uint64_t bits(std::int64_t i) const {
    return scramble(key + static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u);
  }
  /// In [0, 1), a multiple of 2^-53.
  double uniform(std::int64_t i) const { return static_cast<double>(bits(i) >> 11) * 0x1p-53; }
  /// Close to the standard normal: 32 fair coins (deviation sqrt 8, reaching 5.7 deviations) spread evenly over the
  /// steps between their counts.
  double normal(std::int64_t i) const {
    const std::uint64_t b = bits(i);
    const auto coins = static_cast<double>(std::popcount(static_cast<std::uint32_t>(b)));
    const double between = static_cast<double>(b >> 32) * 0x1p-32;
    return (coins - 16.5 + between) * 0.351764854;  // 1 / sqrt(8 + 1/12)
  }
};

/// Values [begin, begin + n) of a fill other than Bits.
void generate(const Fill& how, Source source, std::int64_t row_length, std::int64_t begin, std::int64_t n,
              double* out) {
  switch (how.kind) {
    case Fill::Kind::Normal:
      for (std::int64_t i = 0; i < n; ++i) out[i] = how.a + how.b * source.normal(begin + i);
      return;
    case Fill::Kind::Uniform:
      for (std::int64_t i = 0; i < n; ++i) out[i] = how.a + (how.b - how.a) * source.uniform(begin + i);
      return;
    case Fill::Kind::Integers:
      for (std::int64_t i = 0; i < n; ++i) out[i] = std::floor(how.a + (how.b - how.a + 1) * source.uniform(begin + i));
      return;
    case Fill::Kind::Constant:
      std::fill(out, out + n, how.a);
      return;
    case Fill::Kind::Iota:
      for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<double>(begin + i);
      return;
    case Fill::Kind::RowScaled:
      for (std::int64_t i = 0; i < n; ++i) {
        const std::uint64_t row = scramble(~source.key + static_cast<std::uint64_t>((begin + i) / row_length));
        out[i] = std::ldexp(how.a + how.b * source.normal(begin + i), static_cast<int>(row % 13) - 6);
      }
      return;
    case Fill::Kind::RowShifted:
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t turn = (begin + i) / row_length % 3;
        out[i] = how.b * source.normal(begin + i) + (turn == 0 ? 0 : turn == 1 ? how.a : -how.a);
      }
      return;
    case Fill::Kind::Bits:
      break;
  }
}

void fill_bits(HostTensor& t, std::uint64_t mask, Source source) {
  mask = mask == 0 ? ~std::uint64_t{0} : mask | mask << 32;
  const auto bytes = static_cast<std::int64_t>(t.bytes());
  parallel_for((bytes + 7) / 8, 1 << 17, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::uint64_t word = source.bits(i) & mask;
      if (t.dtype == DType::Bool) word &= 0x0101010101010101u;
      std::memcpy(t.data.data() + 8 * i, &word, static_cast<std::size_t>(std::min<std::int64_t>(8, bytes - 8 * i)));
    }
  });
}

struct Extremes {
  double smallest_subnormal, largest_subnormal, smallest_normal, largest;
};
constexpr Extremes extremes_of(DType dtype) {
  return dtype == DType::F16    ? Extremes{0x1p-24, 0x1.ff8p-15, 0x1p-14, 65504}
         : dtype == DType::BF16 ? Extremes{0x1p-133, 0x1.fcp-127, 0x1p-126, 0x1.fep127}
                                : Extremes{0x1p-149, 0x1.fffffcp-127, 0x1p-126, 0x1.fffffep127};
}

constexpr std::int64_t kTamePeriod = 11, kWildPeriod = 13;  // coprime, and not a divisor of usual row lengths

/// Of the wild values of a single row, a third stand where every tensor has the same one, a third where another tensor
/// has another one (`phase` differs), and a third where it has a plain number: operations on two tensors meet them all.
void plant_edges(HostTensor& t, std::int64_t phase) {
  const Extremes x = extremes_of(t.dtype);
  const double infinity = std::numeric_limits<double>::infinity();
  const double tame[] = {0,
                         -0.0,
                         x.smallest_subnormal,
                         -x.smallest_subnormal,
                         x.largest_subnormal,
                         x.smallest_normal,
                         0.5,
                         1.5,
                         2.5,
                         -0.5,
                         -1.5,
                         1,
                         -1};
  const double nan = std::nan(""), wild[] = {infinity, nan, x.largest, -infinity, -x.largest, -nan};
  const auto tame_count = static_cast<std::int64_t>(std::size(tame)),
             wild_count = static_cast<std::int64_t>(std::size(wild));
  const std::int64_t count = t.count();
  for (std::int64_t i = 5, k = 0; i < count; i += kTamePeriod, ++k) {
    const std::int64_t which = k % (tame_count + 1);
    t.set(i, which == tame_count ? t.at(i - 1) : tame[which]);
  }
  const std::int64_t n = t.shape.empty() ? 1 : t.shape.back(), rows = count / n;
  if (rows < 3) {
    for (std::int64_t i = 7, k = 0; i < count; i += kWildPeriod, ++k) {
      const auto own = static_cast<std::int64_t>(scramble(static_cast<std::uint64_t>(phase * 65536 + k)) >> 32);
      t.set(k % 3 == 2 ? i - phase % 7 : i, wild[(k % 3 == 0 ? k / 3 : own) % wild_count]);
    }
    // Of both in the last elements, which kernels often treat apart.
    if (count > 1) t.set(count - 2, tame[(count + phase) % tame_count]);
    t.set(count - 1, wild[(count / 2 + (count % 2 == 0 ? 0 : phase)) % wild_count]);
  } else {
    // In the first element of a row, where a prefix has nothing else, or further on: infinities first there, then here.
    for (std::int64_t row = 1, k = 0; row < rows; row += 3, ++k) {
      const double v = wild[k % wild_count];
      const bool first = std::isinf(v) == (k % (2 * wild_count) < wild_count);
      t.set(row * n + (first ? 0 : (k * 7 + 3) % n), v);
    }
  }
}

}  // namespace

void fill(HostTensor& t, const Fill& how, std::uint64_t seed, std::int64_t below, bool edges) {
  const std::int64_t count = t.count();
  if (count == 0) return;
  Fill f = how;
  if (!f.below.empty()) f.b += static_cast<double>(below - 1);
  const bool ranged = f.kind == Fill::Kind::Uniform || f.kind == Fill::Kind::Integers;
  require(!ranged || f.a <= f.b, fmt::format("{} can't be filled from the empty range {} to {}; give it a range that "
                                             "holds a number",
                                             t.name, f.a, f.b));
  const Source source{scramble(hash64(t.name, seed))};
  if (f.kind == Fill::Kind::Bits) return fill_bits(t, static_cast<std::uint64_t>(f.a), source);
  const std::int64_t n = t.shape.empty() ? 1 : t.shape.back();
  parallel_for(count, 64 * kBlock, [&](std::int64_t begin, std::int64_t end) {
    double block[kBlock];
    for (std::int64_t at = begin; at < end; at += kBlock) {
      const std::int64_t size = std::min(kBlock, end - at);
      generate(f, source, n, at, size, block);
      for (std::int64_t i = 0; f.flat_rows && i < size; ++i)
        if (const std::int64_t row = (at + i) / n; row % 8 == 2) generate(f, source, n, row * n, 1, &block[i]);
      for (std::int64_t i = 0; f.holes && i < size; ++i)
        if ((at + i) / n % 8 == 3 || scramble(~source.bits(at + i)) % 3 == 0)
          block[i] = is_float(t.dtype) ? -std::numeric_limits<double>::infinity() : 0;
      write(t, at, size, block);
    }
  });
  if (edges && f.edges && is_float(t.dtype)) plant_edges(t, static_cast<std::int64_t>(hash64(t.name) % 1009));
}

}  // namespace mt::oracle
