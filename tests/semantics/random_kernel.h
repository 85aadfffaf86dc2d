// Random kernels without races, divergence or endless loops: material for comparing a kernel with what passes made of
// it.
#pragma once
#include <cstdint>
#include <string>

namespace mt {

/// Text of a kernel of 64 threads: inputs x (f32) and i (u32) of 256 elements, y (f32, inout) and o (u32, out) of
/// 8 * 64 elements a threadgroup, of which thread t touches 8t..8t+7, scalars n (multiple of 4) and m. The same seed
/// gives the same text.
std::string random_kernel(std::uint64_t seed);

}  // namespace mt
