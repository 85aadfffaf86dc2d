// Compiles CUDA text with what is installed: NVRTC, loaded at run time, or nvcc.
#pragma once
#include <map>
#include <optional>
#include <string>

namespace mt::cuda {

struct KernelFacts {
  int registers = 0;
  int spill_bytes = 0;  // stores and loads together
  int stack_bytes = 0;
  int shared_bytes = 0;  // static
  std::string remark;    // why products do not run beside the work (C7508 and its like); empty where they may
};

struct Compiled {
  std::string compiler;                        // "NVRTC 13.0", "nvcc"
  std::string error;                           // empty when it compiled
  std::string cubin;                           // machine code of all kernels
  std::map<std::string, KernelFacts> kernels;  // by name
};

/// The target of text that is only checked.
inline constexpr const char* kHopper = "sm_90a";

/// Compiles `text` for a target such as sm_90a; nothing where no compiler is found. $MT_NVRTC names the NVRTC library
/// where it lies in no usual place.
std::optional<Compiled> compile(const std::string& text, const std::string& arch = kHopper);
/// Tells the compiler's build from others; empty where none is found.
std::string compiler_identity();
/// Name of a cubin in the cache: everything that it depends on. (A driver takes cubins of its own and of older
/// toolkits unchanged, so its version is not a part.)
std::string cubin_key(const std::string& text, const std::string& arch, const std::string& compiler);
/// Facts by kernel from the text that ptxas prints with -v.
std::map<std::string, KernelFacts> parse_ptxas(const std::string& log);

}  // namespace mt::cuda
