#include "backends/metal/device/apple/commands.h"

#include <fmt/format.h>

#include "backends/metal/device/apple/objects.h"
#include "backends/metal/device/error_text.h"

namespace mt::metal {
namespace {

// failure_text knows these numbers.
static_assert(MTL::CommandBufferErrorInternal == 1 && MTL::CommandBufferErrorTimeout == 2 &&
              MTL::CommandBufferErrorPageFault == 3 && MTL::CommandBufferErrorAccessRevoked == 4 &&
              MTL::CommandBufferErrorNotPermitted == 7 && MTL::CommandBufferErrorOutOfMemory == 8 &&
              MTL::CommandBufferErrorInvalidResource == 9 && MTL::CommandBufferErrorMemoryless == 10 &&
              MTL::CommandBufferErrorDeviceRemoved == 11 && MTL::CommandBufferErrorStackOverflow == 12);

const char* name_of(MTL::CommandEncoderErrorState state) {
  switch (state) {
    case MTL::CommandEncoderErrorStateFaulted:
      return "faulted";
    case MTL::CommandEncoderErrorStateAffected:
      return "affected by a fault elsewhere";
    case MTL::CommandEncoderErrorStatePending:
      return "pending";
    case MTL::CommandEncoderErrorStateCompleted:
      return "completed";
    default:
      return "";
  }
}

/// What shader validation wrote, where it is on (MTL_SHADER_VALIDATION=1).
std::vector<std::string> logs_of(MTL::CommandBuffer* buffer) {
  std::vector<std::string> all;
  MTL::LogContainer* logs = buffer->logs();
  if (!logs) return all;
  NS::FastEnumerationState state{};
  NS::Object* room[16];
  for (NS::UInteger n = 0; (n = logs->countByEnumerating(&state, room, 16)) > 0;)
    for (NS::UInteger i = 0; i < n; ++i) {
      const auto* log = static_cast<MTL::FunctionLog*>(state.itemsPtr[i]);
      std::string line = text_of(log->description());
      if (const auto* at = log->debugLocation())
        line = fmt::format("{}:{}: {}", text_of(at->functionName()), at->line(), line);
      all.push_back(std::move(line));
    }
  return all;
}

class AppleCommands final : public GpuCommands {
 public:
  AppleCommands(MTL::CommandQueue* queue, std::shared_ptr<AppleBuffer> nothing) : nothing_(std::move(nothing)) {
    const Pool pool;
    const auto wanted = NS::TransferPtr(MTL::CommandBufferDescriptor::alloc()->init());
    wanted->setErrorOptions(MTL::CommandBufferErrorOptionEncoderExecutionStatus);
    buffer_ = NS::RetainPtr(queue->commandBuffer(wanted.get()));
    if (!buffer_) throw Error("metal: the queue gives no command buffer; start again");
    encoder_ = NS::RetainPtr(buffer_->computeCommandEncoder(MTL::DispatchTypeSerial));
    if (!encoder_) throw Error("metal: the command buffer gives no encoder; start again");
  }
  AppleCommands(const AppleCommands&) = delete;
  AppleCommands& operator=(const AppleCommands&) = delete;
  ~AppleCommands() override {
    // Metal ends the process where an encoder goes that is still open.
    if (encoder_) encoder_->endEncoding();
  }

  void encode(const Dispatch& d) override {
    const Pool pool;
    encoder_->setComputePipelineState(static_cast<const ApplePipeline&>(*d.pipeline).state.get());
    NS::UInteger index = 0;
    for (const Dispatch::Memory& m : d.memories) {
      const auto& memory = m.buffer ? static_cast<const AppleBuffer&>(*m.buffer) : *nothing_;
      encoder_->setBuffer(memory.buffer.get(), m.buffer ? m.offset : 0, index++);
    }
    for (const Dispatch::Scalar& s : d.scalars) encoder_->setBytes(&s.bits, s.bytes, index++);
    encoder_->insertDebugSignpost(string_of(d.what));
    encoder_->dispatchThreadgroups(MTL::Size(d.groups[0], d.groups[1], d.groups[2]), MTL::Size(d.threads, 1, 1));
  }
  void commit() override {
    const Pool pool;
    encoder_->endEncoding();
    encoder_.reset();
    buffer_->commit();
  }
  Outcome wait() override {
    const Pool pool;
    buffer_->waitUntilCompleted();
    Outcome outcome;
    outcome.seconds = buffer_->GPUEndTime() - buffer_->GPUStartTime();
    CommandFailure failure;
    failure.logs = logs_of(buffer_.get());
    const bool failed = buffer_->status() == MTL::CommandBufferStatusError;
    if (!failed && failure.logs.empty()) return outcome;
    if (const NS::Error* error = buffer_->error()) {
      failure.code = error->code();
      failure.domain = text_of(error->domain());
      failure.message = message_of(error, "");
      const auto* facts = error->userInfo();
      const auto* encoders = facts && MTL::CommandBufferEncoderInfoErrorKey
                                 ? facts->object<NS::Array>(MTL::CommandBufferEncoderInfoErrorKey)
                                 : nullptr;
      if (encoders && encoders->count() > 0)
        failure.encoder = name_of(encoders->object<MTL::CommandBufferEncoderInfo>(0)->errorState());
    }
    outcome.error = failure_text(failure);
    return outcome;
  }

 private:
  std::shared_ptr<AppleBuffer> nothing_;
  NS::SharedPtr<MTL::CommandBuffer> buffer_;
  NS::SharedPtr<MTL::ComputeCommandEncoder> encoder_;
};

}  // namespace

std::unique_ptr<GpuCommands> make_commands(MTL::CommandQueue* queue, std::shared_ptr<AppleBuffer> nothing) {
  return std::make_unique<AppleCommands>(queue, std::move(nothing));
}

}  // namespace mt::metal
