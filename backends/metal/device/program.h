// A kernel's pipeline, and how arguments are bound to it.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/metal/binding.h"
#include "backends/metal/device/gpu.h"

namespace mt::metal {

/// Pipelines of this process by their text. (The system keeps compiled code on disk by itself.)
class PipelineCache {
 public:
  explicit PipelineCache(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  /// Throws Error. `found`: it was there already.
  std::shared_ptr<GpuPipeline> get(const std::string& text, const std::string& kernel, bool* found = nullptr);

 private:
  std::shared_ptr<Gpu> gpu_;
  std::map<std::string, std::shared_ptr<GpuPipeline>> made_;  // by hash
};

class MetalProgram final : public Program {
 public:
  /// Throws Error where the text does not compile, has too many buffers, or its simdgroups have not 32 lanes.
  MetalProgram(const Kernel& kernel, PipelineCache& cache);
  int max_threads() const override { return max_threads_; }
  std::size_t start_alignment(std::size_t n) const override { return alignment_[n]; }
  const std::string& name() const { return name_; }
  const std::vector<Slot>& slots() const { return slots_; }

  /// The launch without its memories. Throws Error for counts of arguments and for what no pipeline takes.
  Dispatch dispatch(const Arguments& arguments, const Groups& groups) const;

 private:
  std::string name_;
  int threads_, max_threads_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::size_t> alignment_;
  std::shared_ptr<GpuPipeline> pipeline_;
};

}  // namespace mt::metal
