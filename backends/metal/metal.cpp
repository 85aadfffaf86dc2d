// The metal backend: Metal text everywhere, libraries where Apple's compiler is, and a device on a Mac.
#include "backends/backend.h"
#include "backends/metal/device/device.h"
#include "backends/metal/dialect.h"
#include "backends/metal/library.h"
#include "backends/metal/text.h"
#include "backends/text_runner.h"

namespace mt::metal {
namespace {

class MetalBackend final : public Backend {
 public:
  std::string_view name() const override { return "metal"; }
  std::string_view description() const override {
    return "Apple GPUs: Metal Shading Language text, run through Metal on a Mac";
  }
  PipelineOptions pipeline() const override {
    return {.tiles = {.lower = true, .narrow = MatrixUnit::Simd8, .wide = MatrixUnit::Simd8}};
  }
  std::optional<Artefact> artefact(const Kernel& kernel) const override {
    return Artefact{"metal", metal_text({kernel})};
  }
  std::optional<Artefact> program(const std::vector<Kernel>& stages) const override {
    return Artefact{"metal", metal_text(stages)};
  }
  std::string_view library_name() const override { return "metallib"; }
  std::string library(const std::vector<std::pair<std::string, std::string>>& texts,
                      const std::function<void(const std::string&)>& progress) const override {
    return metal_library(texts, progress);
  }
  /// By whichever backend compiles Metal text here. Our text deserves no warning, so one counts as a failure.
  std::optional<std::string> check_artefact(const Artefact& artefact,
                                            std::map<std::string, std::string>*) const override {
    for (const Backend* b : backends()) {
      const TextRunner* runner = b->text_runner();
      if (!runner || !runner->unavailable().empty()) continue;
      try {
        return runner->contents(artefact.text, "text.metal", {}).warnings;
      } catch (const Error& e) {
        return e.what();
      }
    }
    return std::nullopt;
  }
  Result<std::unique_ptr<Device>> open(int index) const override {
    auto gpu = open_gpu(index);
    if (!gpu) return gpu.error();
    try {
      return make_device(gpu.take());
    } catch (const Error& e) {
      return e;
    }
  }
  std::string unavailable() const override { return why_no_gpu(); }
  int rank() const override { return 20; }
};

const MetalBackend backend;
[[maybe_unused]] const bool registered = register_backend(backend);

}  // namespace

std::string metal_text(const std::vector<Kernel>& stages, std::vector<Loc>* places) {
  return clike::print_text(stages, MetalDialect{}, places);
}

}  // namespace mt::metal
