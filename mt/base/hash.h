// 64- and 128-bit content hashes (xxHash) as lower-case hex.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace mt {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);
/// 32 hex digits; used as the name of a cache entry.
std::string hash_hex(std::string_view bytes);

}  // namespace mt
