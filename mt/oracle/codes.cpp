#include "mt/oracle/codes.h"

#include <fmt/format.h>

#include "mt/oracle/block.h"

namespace mt::oracle {

HostTensor pack_codes(const std::vector<std::uint32_t>& codes, int bits, std::int64_t per_row) {
  const auto count = static_cast<std::int64_t>(codes.size());
  require(bits >= 1 && bits <= 16 && per_row > 0 && count % per_row == 0,
          fmt::format("{} codes of {} bits do not make whole rows of {}", count, bits, per_row));
  const std::int64_t width = words_per_row(per_row, bits);
  HostTensor words("codes", DType::U32, {count / per_row, width});
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t code = codes[static_cast<std::size_t>(i)];
    require(code >> bits == 0, fmt::format("code {} does not fit in {} bits", code, bits));
    const std::int64_t bit = i % per_row * bits;
    std::uint32_t* word = words.as<std::uint32_t>() + i / per_row * width + bit / 32;
    const std::uint64_t placed = static_cast<std::uint64_t>(code) << (bit % 32);
    word[0] |= static_cast<std::uint32_t>(placed);
    if (placed >> 32 != 0) word[1] |= static_cast<std::uint32_t>(placed >> 32);
  }
  return words;
}

std::vector<std::uint32_t> unpack_codes(const HostTensor& words, int bits, std::int64_t per_row) {
  const std::int64_t width = words_per_row(per_row, bits);
  require(per_row > 0 && words.dtype == DType::U32 && words.count() % width == 0,
          fmt::format("{} does not hold whole rows of {} codes of {} bits", words.name, per_row, bits));
  std::vector<std::uint32_t> codes(static_cast<std::size_t>(words.count() / width * per_row));
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = code_in(words, static_cast<std::int64_t>(i), bits, per_row);
  return codes;
}

}  // namespace mt::oracle
