// Registers the cpu backend.
#include "backends/backend.h"
#include "backends/cpu/compiler.h"
#include "backends/cpu/cpu_info.h"
#include "backends/cpu/device.h"
#include "backends/cpu/emit.h"
#include "backends/cpu/tile_notes.h"

namespace mt::cpu {
namespace {

class CpuBackend final : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  std::string_view description() const override { return "the host's cores: vector code by LLVM, cached on disk"; }
  PipelineOptions pipeline() const override { return {.lower_group_reduce = false, .contiguous_simds = true}; }
  std::optional<Artefact> artefact(const Kernel& kernel) const override {
    return Artefact{"ll", emit(kernel, cpu_info().emit).text};
  }
  std::vector<std::string> tile_notes(const Kernel& kernel) const override {
    return cpu::tile_notes(kernel, cpu_info().emit);
  }
  Result<std::unique_ptr<Device>> open(int index) const override {
    if (index != 0) return Error("cpu: there is one device, number 0");
    if (const std::string why = why_unavailable(); !why.empty()) return Error(why);
    return open_device();
  }
  TargetTraits traits() const override { return {.gpu = false, .threadgroup_kib = kThreadgroupKib}; }
  std::string unavailable() const override { return why_unavailable(); }
  int rank() const override { return 10; }
};

const CpuBackend backend;
[[maybe_unused]] const bool registered = register_backend(backend);

}  // namespace
}  // namespace mt::cpu
