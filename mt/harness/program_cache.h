// Kernels compiled in this process: cases that share a variant compile once.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "backends/backend.h"

namespace mt {

/// A kernel after the pipeline, and what a device made of it.
struct Compiled {
  Kernel kernel;
  std::shared_ptr<Program> program;
  double optimise_ms = 0, compile_ms = 0;
  bool reused = false;  // found here
};

class ProgramCache {
 public:
  /// Verifies a traced kernel, optimises and compiles it; or gives what an equal kernel became before on the same
  /// device. Throws Error.
  Compiled get(const Backend& backend, Device& device, Kernel traced);
  std::size_t size() const { return entries_.size(); }

 private:
  std::map<std::pair<const Device*, std::string>, Compiled> entries_;
};

}  // namespace mt
