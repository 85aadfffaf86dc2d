// What this GPU's memory and arithmetic give at best.
#pragma once
#include <memory>
#include <string>

#include "backends/backend.h"
#include "backends/cuda/context.h"

namespace mt::cuda {

/// Text of the kernels that are measured.
std::string roofs_text();

class Roofs {
 public:
  /// Takes memory several times the cache. Throws Error.
  Roofs(std::shared_ptr<Context> context, const std::string& arch, int processors);
  ~Roofs();
  Roofs(const Roofs&) = delete;
  Roofs& operator=(const Roofs&) = delete;
  /// A few milliseconds. Throws Error.
  Ceiling measure();
  const std::shared_ptr<Context>& context() const { return context_; }

 private:
  double seconds(Handle function, unsigned groups, int launches);
  std::shared_ptr<Context> context_;
  unsigned processors_;
  bool has_matrix_unit_ = false;  // from compute capability 8.0
  std::size_t bytes_ = 0;
  Address from_ = 0, to_ = 0;
  Handle module_ = nullptr, copy_ = nullptr, read_ = nullptr, write_ = nullptr, arithmetic_ = nullptr,
         matrix_ = nullptr, empty_ = nullptr;
};

}  // namespace mt::cuda
