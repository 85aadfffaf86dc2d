// How much a value may differ between threads.
#pragma once
#include <vector>

#include "mt/ir/kernel.h"

namespace mt {

/// Same for the whole threadgroup; same for the lanes of a simdgroup; free.
enum class Uniformity : std::uint8_t { Group, Simd, Varying };

/// For every value of the kernel (index: value id). Sound for kernels without data races: a value called Group or Simd
/// really is, given that control flow reaches it. Thread-private variables before mem2reg take the uniformity of what
/// is stored, control flow included.
std::vector<Uniformity> uniformity(const Kernel& kernel);

}  // namespace mt
