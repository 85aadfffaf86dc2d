// Random kernels without races, divergence or endless loops: material for comparing a kernel with what passes and
// backends make of it.
#pragma once
#include <cstdint>
#include <string>

namespace mt {

/// Text of a kernel of 32, 64 or 128 threads: nested ifs, counting loops of several index types, while loops with and
/// without a break, values of all dtypes and of 1, 2, 4 and 8 lanes with edge cases among them, casts, threadgroup and
/// thread memory, barriers, reductions, scans, shuffles and atomics.
///
/// Inputs have 256 elements. Outputs are o and y and others of 8 elements a thread, of which thread t touches 8t to
/// 8t+7, and cells that threads combine atomically into. What it computes does not depend on the order of threads, and
/// neither is a float summed across threads nor are the bits of a NaN looked at, so that every target must leave the
/// same bits. The same seed gives the same text.
std::string random_kernel(std::uint64_t seed);

}  // namespace mt
