// From an optimised kernel to LLVM IR text.
#pragma once
#include <cstddef>
#include <string>

#include "mt/ir/kernel.h"

namespace mt::cpu {

inline constexpr int kEmitterVersion = 6;  // part of the cache key: raise it when equal text may mean other objects
inline constexpr const char* kEntry = "mt_kernel";

/// Signature of the entry point. Runs the threadgroups [begin, end) of a grid of gx * gy * gz, x fastest. `scratch` is
/// 64-byte aligned, `scratch_bytes` large, and belongs to the calling thread alone. `ahead`: bytes between a place that
/// is read and what a version that streams asks for beside it.
using EntryPoint = void (*)(void** buffers, const std::uint64_t* scalars, std::int64_t begin, std::int64_t end,
                            std::int64_t gx, std::int64_t gy, std::int64_t gz, void* scratch, std::int64_t ahead);

struct EmitOptions {
  bool small_masks = false;  // masked loads and stores of 8 and 16 bits are cheap (AVX-512BW)
  bool avx512 = false;       // AVX-512 F and DQ: their own instructions for extremes and for scaling by powers of two
  bool native_bf16 = false;  // AVX-512 BF16: its own rounding of f32 to bf16
  bool stream = false;       // stores go past the caches
};

struct Emitted {
  std::string text;
  std::size_t scratch_bytes = 0;
};

/// Throws Error where the kernel asks for what the target cannot do.
Emitted emit(const Kernel& kernel, const EmitOptions& options);

}  // namespace mt::cpu
