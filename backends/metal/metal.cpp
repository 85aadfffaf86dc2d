// The metal backend: Metal text everywhere.
#include "backends/backend.h"
#include "backends/metal/dialect.h"
#include "backends/metal/text.h"
#include "backends/text_runner.h"

namespace mt::metal {
namespace {

constexpr const char* kNoDevice =
    "metal device: this build prints Metal text only; copy what `tile build --target metal` writes to a Mac to run it";

class MetalBackend final : public Backend {
 public:
  std::string_view name() const override { return "metal"; }
  std::string_view description() const override { return "Metal Shading Language text"; }
  PipelineOptions pipeline() const override { return {}; }
  std::optional<Artefact> artefact(const Kernel& kernel) const override {
    return Artefact{"metal", metal_text({kernel})};
  }
  std::optional<Artefact> program(const std::vector<Kernel>& stages) const override {
    return Artefact{"metal", metal_text(stages)};
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
  Result<std::unique_ptr<Device>> open(int) const override { return Error(kNoDevice); }
  std::string unavailable() const override { return kNoDevice; }
};

const MetalBackend backend;
[[maybe_unused]] const bool registered = register_backend(backend);

}  // namespace

std::string metal_text(const std::vector<Kernel>& stages, std::vector<Loc>* places) {
  return clike::print_text(stages, MetalDialect{}, places);
}

}  // namespace mt::metal
