// Packed integer codes: each row is a bit stream in 32-bit words; code e takes bits [e * bits, (e + 1) * bits) from the
// low end of the row's first word and may straddle two words. For 2, 4 and 8 bits that is 16, 8 and 4 codes a word.
#pragma once
#include <cstdint>
#include <vector>

#include "mt/base/host_tensor.h"

namespace mt::oracle {

constexpr std::int64_t words_per_row(std::int64_t codes, int bits) { return (codes * bits + 31) / 32; }

/// Code `e` of the row that starts at `row`. `bits` from 1 to 16.
inline std::uint32_t code_at(const std::uint32_t* row, std::int64_t e, int bits) {
  const std::int64_t bit = e * bits, word = bit / 32, shift = bit % 32;
  std::uint64_t window = row[word];
  if (shift + bits > 32) window |= static_cast<std::uint64_t>(row[word + 1]) << 32;
  return static_cast<std::uint32_t>(window >> shift) & ((1u << bits) - 1u);
}

/// Code `i`, counted over rows of `per_row` codes, of a tensor of words.
inline std::uint32_t code_in(const HostTensor& words, std::int64_t i, int bits, std::int64_t per_row) {
  return code_at(words.as<std::uint32_t>() + i / per_row * words_per_row(per_row, bits), i % per_row, bits);
}

/// u32 words [rows, words_per_row] of codes given row after row. Throws mt::Error on a code that does not fit.
HostTensor pack_codes(const std::vector<std::uint32_t>& codes, int bits, std::int64_t per_row);
std::vector<std::uint32_t> unpack_codes(const HostTensor& words, int bits, std::int64_t per_row);

}  // namespace mt::oracle
