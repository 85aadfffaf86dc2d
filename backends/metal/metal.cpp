// The metal backend: Metal text everywhere.
#include "backends/backend.h"
#include "backends/metal/dialect.h"
#include "backends/metal/text.h"

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
