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
};

struct Compiled {
  std::string compiler;                        // "NVRTC 13.0", "nvcc"
  std::string error;                           // empty when it compiled
  std::map<std::string, KernelFacts> kernels;  // by name
};

/// What the compiler says of `text` for sm_90a; nothing where no compiler is found.
std::optional<Compiled> compile(const std::string& text);
/// Facts by kernel from the text that ptxas prints with -v.
std::map<std::string, KernelFacts> parse_ptxas(const std::string& log);

}  // namespace mt::cuda
