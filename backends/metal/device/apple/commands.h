// A command buffer of Metal's.
#pragma once
#include <memory>

#include <Metal/Metal.hpp>

#include "backends/metal/device/gpu.h"

namespace mt::metal {

struct AppleBuffer final : GpuBuffer {
  explicit AppleBuffer(NS::SharedPtr<MTL::Buffer> b) : buffer(std::move(b)) {}
  std::byte* contents() override { return static_cast<std::byte*>(buffer->contents()); }
  NS::SharedPtr<MTL::Buffer> buffer;
};

struct ApplePipeline final : GpuPipeline {
  NS::SharedPtr<MTL::ComputePipelineState> state;
};

/// `nothing`: bound where a launch binds nothing, so that validation finds a buffer everywhere. Throws Error where the
/// queue gives no command buffer.
std::unique_ptr<GpuCommands> make_commands(MTL::CommandQueue* queue, std::shared_ptr<AppleBuffer> nothing);

}  // namespace mt::metal
