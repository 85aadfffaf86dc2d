// What this GPU's memory and arithmetic give at best.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/metal/device/program.h"

namespace mt::metal {

/// Text of the kernels that are measured.
std::string roofs_text();

/// Runs the launches in one command buffer; seconds by the GPU's own clock. Throws Error.
double run_once(Gpu& gpu, const std::vector<Dispatch>& launches);

class Roofs {
 public:
  /// Takes two blocks of about `bytes`, less where the GPU recommends less. Throws Error.
  Roofs(Gpu& gpu, PipelineCache& pipelines, std::size_t bytes);
  /// A few milliseconds. Throws Error.
  Ceiling measure();

 private:
  double seconds(const std::shared_ptr<GpuPipeline>& pipeline, std::uint32_t groups, int launches);
  Gpu& gpu_;
  std::size_t bytes_;
  std::shared_ptr<GpuBuffer> from_, to_;
  std::shared_ptr<GpuPipeline> copy_, read_, write_, arithmetic_, empty_;
};

}  // namespace mt::metal
