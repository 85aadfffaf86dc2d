// Loops that move or compute as fast as one core can.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mt {

/// Sum of the 64-bit words of `bytes` (a multiple of 1024) at `from`, 64-byte aligned.
std::uint64_t read_words(const std::byte* from, std::size_t bytes);
/// Copies past the caches where the host can; `bytes` is a multiple of 1024, both 64-byte aligned.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes);
/// Writes past the caches where the host can.
void stream_fill(std::byte* to, std::size_t bytes);
/// Runs `rounds` of fused multiply-adds in all registers; returns how many floating-point operations that were.
double multiply_add(std::int64_t rounds, float& sink);

}  // namespace mt
