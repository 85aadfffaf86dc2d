// A kernel's machine code, loaded into a context when it is first launched there.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/cuda/context.h"
#include "backends/object_cache.h"

namespace mt::cuda {

/// Machine code of one kernel's text, from the cache or compiled and then kept there.
struct Machine {
  std::string cubin;
  bool from_cache = false;
};
/// Throws Error. `fresh` looks into no cache, for a cubin that turned out to be of no use.
Machine machine_code(const std::string& text, const std::string& kernel, const std::string& arch, ObjectCache& cache,
                     bool fresh = false);

/// The cubins of this backend.
ObjectCache& cubin_cache();

class CudaProgram final : public Program {
 public:
  /// Compiles and loads. Throws Error.
  CudaProgram(const Kernel& kernel, const std::string& arch, const std::shared_ptr<Context>& context);
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;
  ~CudaProgram() override;
  int max_threads() const override { return max_threads_; }
  std::size_t start_alignment(std::size_t n) const override { return alignment_[n]; }
  /// Enqueues a launch. Throws Error.
  void launch(const std::shared_ptr<Context>& context, std::vector<void*>& arguments, const Groups& groups);
  const std::string& name() const { return name_; }
  const std::vector<std::string>& memories() const { return memories_; }

 private:
  Status load(Context& context);
  std::string name_, cubin_;
  unsigned threads_ = 0, dynamic_bytes_ = 0;
  std::vector<std::string> memories_;  // names, in order
  std::vector<std::size_t> alignment_;
  int max_threads_ = 0;
  std::weak_ptr<Context> loaded_in_;
  Handle module_ = nullptr, function_ = nullptr;
};

}  // namespace mt::cuda
