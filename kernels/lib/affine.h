// Affine codes: value = scale * code + bias, one scale and bias a group. Codes of `bits` bits stand one after another
// from the low end of 32-bit words and may straddle two of them.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "mt/dsl/dsl.h"

namespace mt {

/// Codes that fill a whole number of words, the fewest possible.
struct CodePack {
  int bits, codes, words;
  explicit CodePack(int b) : bits(b), codes(32 / std::gcd(b, 32)), words(b / std::gcd(b, 32)) {}
};

/// n codes from bit 0 of words[0] on; not `alone`: with other bits above them.
inline Vec<u32> unpack_codes(const std::vector<U32>& words, int bits, int n, bool alone = true) {
  const int last = static_cast<int>(words.size()) - 1;
  const auto word = [&](int i) { return words[static_cast<std::size_t>(std::min(i, last))]; };
  const auto shifts = pack(n, [&](int e) { return U32(e * bits % 32); });
  const U32 mask(alone ? (1u << bits) - 1 : ~0u);
  if (last == 0) return splat(word(0), n) >> shifts & mask;
  const auto low = pack(n, [&](int e) { return word(e * bits / 32); }) >> shifts;
  if (32 % bits == 0) return low & mask;
  const auto above = pack(n, [&](int e) { return word(e * bits / 32 + 1); });  // shifted out where e * bits % 32 is 0
  return (low | above << pack(n, [&](int e) { return U32(32 - e * bits % 32); })) & mask;
}

/// Word `i` of a run of codes, given in vectors of equal length.
inline U32 pack_codes(const std::vector<Vec<u32>>& codes, int bits, int i) {
  const int n = codes[0].lanes();
  VecVar<u32> parts(n, 0u);
  for (std::size_t c = 0; c < codes.size(); ++c) {
    const auto place = [&](int e) { return (static_cast<int>(c) * n + e) * bits - 32 * i; };  // of code e in the word
    if (place(n - 1) + bits <= 0 || place(0) >= 32) continue;
    // A shift by 32 leaves nothing: the code lies outside the word, or is not cut by its lower end.
    parts = parts | codes[c] << pack(n, [&](int e) { return U32(place(e) >= 0 && place(e) < 32 ? place(e) : 32); });
    if (place(0) < 0 && 32 % bits != 0)
      parts = parts | codes[c] >> pack(n, [&](int e) { return U32(place(e) < 0 ? std::min(-place(e), 32) : 32); });
  }
  return sum(as_value(parts));  // no two overlap
}

/// Sizes of `groups` groups of `size` codes.
inline Problem affine_groups(std::int64_t groups, std::int64_t size, int bits) {
  return {{"n_groups", groups}, {"group_size", size}, {"words", size * bits / 32}};
}
/// Whole words a group, and whole runs of 8 codes.
inline void require_whole_groups(const Problem& p, int bits) {
  require(p["group_size"] > 0 && p["group_size"] % 8 == 0 && p["group_size"] * bits % 32 == 0,
          "group_size must be a multiple of 8 codes that fills whole 32-bit words");
  require(p["words"] * 32 == p["group_size"] * bits, "words must be group_size * bits / 32");
}

}  // namespace mt
