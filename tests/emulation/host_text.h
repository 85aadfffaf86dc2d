// Printed Metal or CUDA text, compiled by the host's C++ compiler and run on fibers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace mt::emulation {

class HostText {
 public:
  /// Prints the optimised kernels, whose names differ, for `target` (metal or cuda) and compiles them; `more` are
  /// options of the compiler. Throws Error with what the compiler says.
  HostText(const Backend& target, const std::vector<Kernel>& kernels, const std::string& more = "");
  HostText(const HostText&) = delete;
  HostText& operator=(const HostText&) = delete;
  ~HostText();

  /// One launch; device memories in the kernel's order, scalars as bits. Throws Error.
  void run(const Kernel& kernel, std::vector<void*> memories, std::vector<std::uint64_t> scalars,
           const Groups& groups) const;

 private:
  std::string folder_;
  void* library_ = nullptr;
};

/// The text that the host compiles: types and functions of the target's language, then the kernels with what C++ lacks
/// replaced, then an entry for each.
std::string host_source(const std::string& target, const std::string& text);

}  // namespace mt::emulation
