// The GPU of a Mac through metal-cpp.
#include <fmt/format.h>

#include <Metal/Metal.hpp>

#include "backends/metal/device/apple/commands.h"
#include "backends/metal/device/apple/objects.h"
#include "backends/metal/device/error_text.h"
#include "backends/metal/device/gpu.h"

namespace mt::metal {
namespace {

constexpr NS::Integer kOldest = 14;     // macOS whose compiler takes Metal 3.1
constexpr NS::Integer kMathModes = 15;  // macOS whose compile options have them
constexpr NS::UInteger kNothingBytes = 256;

NS::Integer system_version() { return NS::ProcessInfo::processInfo()->operatingSystemVersion().majorVersion; }

/// `Apple 9`, or empty for a GPU that is not Apple's.
std::string family_of(MTL::Device* device) {
  // Families follow each other by number; this finds those that came after metal-cpp.
  constexpr int kFirst = MTL::GPUFamilyApple1, kNewest = kFirst + 30;
  int newest = 0;
  for (int f = kFirst; f < kNewest; ++f)
    if (device->supportsFamily(static_cast<MTL::GPUFamily>(f))) newest = f - kFirst + 1;
  return newest > 0 ? fmt::format("Apple {}", newest) : "";
}

class AppleGpu final : public Gpu {
 public:
  explicit AppleGpu(NS::SharedPtr<MTL::Device> device) : device_(std::move(device)) {
    const Pool pool;
    queue_ = NS::TransferPtr(device_->newCommandQueue());
    if (!queue_) throw Error("metal: the GPU gives no command queue; another process may hold all of them");
    nothing_ = std::static_pointer_cast<AppleBuffer>(allocate(kNothingBytes));
    if (!nothing_) throw Error("metal: the GPU has no memory left");
    facts_.name = text_of(device_->name());
    const MTL::Size threads = device_->maxThreadsPerThreadgroup();
    facts_.max_threads = threads.width;
    facts_.threadgroup_bytes = device_->maxThreadgroupMemoryLength();
    facts_.max_buffer_bytes = device_->maxBufferLength();
    facts_.working_set_bytes = device_->recommendedMaxWorkingSetSize();
    facts_.details["system"] = text_of(NS::ProcessInfo::processInfo()->operatingSystemVersionString());
    if (const auto* architecture = device_->architecture())
      facts_.details["architecture"] = text_of(architecture->name());
    if (const std::string family = family_of(device_.get()); !family.empty()) facts_.details["family"] = family;
    facts_.details["unified_memory"] = device_->hasUnifiedMemory() ? "yes" : "no";
    facts_.details["language"] = "Metal 3.1";
  }

  const GpuFacts& facts() const override { return facts_; }

  std::shared_ptr<GpuBuffer> allocate(std::size_t bytes) override {
    const Pool pool;
    auto buffer = NS::TransferPtr(device_->newBuffer(bytes, MTL::ResourceStorageModeShared));
    return buffer ? std::make_shared<AppleBuffer>(std::move(buffer)) : nullptr;
  }

  std::shared_ptr<GpuPipeline> compile(const std::string& text, const std::string& kernel) override {
    const Pool pool;
    const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
    options->setLanguageVersion(MTL::LanguageVersion3_1);
    // The text says the same in pragmas that only newer compilers know.
    if (system_version() >= kMathModes) {
      options->setMathMode(MTL::MathModeSafe);
      options->setMathFloatingPointFunctions(MTL::MathFloatingPointFunctionsPrecise);
    } else {
      options->setFastMathEnabled(false);
    }
    NS::Error* error = nullptr;
    // Warnings come as an error beside the library.
    const auto library = NS::TransferPtr(device_->newLibrary(string_of(text), options.get(), &error));
    if (!library) throw Error(compiler_text(message_of(error, ""), kernel + ".metal"));
    const auto function = NS::TransferPtr(library->newFunction(string_of(kernel)));
    if (!function) throw Error("the text has no kernel of that name");
    error = nullptr;
    auto made = std::make_shared<ApplePipeline>();
    made->state = NS::TransferPtr(device_->newComputePipelineState(function.get(), &error));
    if (!made->state) throw Error("no pipeline: " + message_of(error, "the GPU's compiler gave no reason"));
    made->max_threads = made->state->maxTotalThreadsPerThreadgroup();
    made->simd_width = made->state->threadExecutionWidth();
    made->threadgroup_bytes = made->state->staticThreadgroupMemoryLength();
    return made;
  }

  std::unique_ptr<GpuCommands> commands() override { return make_commands(queue_.get(), nothing_); }

 private:
  NS::SharedPtr<MTL::Device> device_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
  std::shared_ptr<AppleBuffer> nothing_;
  GpuFacts facts_;
};

NS::SharedPtr<MTL::Device> default_device() {
  const Pool pool;
  return NS::TransferPtr(MTL::CreateSystemDefaultDevice());
}

}  // namespace

std::string why_no_gpu() {
  const Pool pool;
  if (system_version() < kOldest)
    return fmt::format("metal: this is macOS {}; kernels need Metal 3.1, which came with macOS {}", system_version(),
                       kOldest);
  return default_device() ? "" : "metal: the system offers no GPU to this process; run it in a session that has one";
}

Result<std::unique_ptr<Gpu>> open_gpu(int index) {
  if (std::string why = why_no_gpu(); !why.empty()) return Error(why);
  if (index != 0)
    return Error(fmt::format("metal: there is no device {}; the only one is 0, the system's default", index));
  try {
    return std::unique_ptr<Gpu>(std::make_unique<AppleGpu>(default_device()));
  } catch (const Error& e) {
    return e;
  }
}

}  // namespace mt::metal
