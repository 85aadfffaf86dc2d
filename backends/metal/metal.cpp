// The metal backend: Metal text everywhere.
#include "backends/backend.h"
#include "backends/metal/dialect.h"

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
    return Artefact{"metal", clike::print_text({kernel}, MetalDialect{})};
  }
  std::optional<Artefact> program(const std::vector<Kernel>& stages) const override {
    return Artefact{"metal", clike::print_text(stages, MetalDialect{})};
  }
  Result<std::unique_ptr<Device>> open(int) const override { return Error(kNoDevice); }
  std::string unavailable() const override { return kNoDevice; }
};

const MetalBackend backend;
[[maybe_unused]] const bool registered = register_backend(backend);

}  // namespace
}  // namespace mt::metal
