// The cuda backend: CUDA text everywhere, checked by the compiler that is installed, and run where there is a GPU.
#include <fmt/format.h>

#include "backends/backend.h"
#include "backends/cuda/compiler.h"
#include "backends/cuda/device.h"
#include "backends/cuda/dialect.h"

namespace mt::cuda {
namespace {

/// What ptxas spills by choice, a value or two, so that more threads fit at a time.
constexpr int kFewBytes = 16;

/// wgmma is one architecture's. Text that no device here asks for is for that one.
bool has_teams() {
  static const bool has = first_arch().value_or(kHopper) == kHopper;
  return has;
}

class CudaBackend final : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }
  std::string_view description() const override {
    return "NVIDIA GPUs: header-free CUDA C++, compiled by NVRTC and cached on disk";
  }
  PipelineOptions pipeline() const override {
    // f32 by multiply-adds: the matrix unit would round operands to TF32.
    return {.tiles = {.lower = true,
                      .narrow = MatrixUnit::Mma16,
                      .wide = MatrixUnit::Fma,
                      .load_matrix = true,
                      .copy_async = true,
                      .teams = has_teams()}};
  }
  std::optional<Artefact> artefact(const Kernel& kernel) const override { return program({kernel}); }
  std::optional<Artefact> program(const std::vector<Kernel>& stages) const override {
    return Artefact{"cu", clike::print_text(stages, CudaDialect{})};
  }
  std::optional<std::string> check_artefact(const Artefact& artefact,
                                            std::map<std::string, std::string>* facts) const override {
    const std::optional<Compiled> made = compile(artefact.text);
    if (!made) return std::nullopt;
    std::string problem = made->error.empty() ? "" : made->compiler + ": " + made->error;
    if (made->error.empty() && made->kernels.empty()) problem = made->compiler + " reported no kernel";
    for (const auto& [kernel, fact] : made->kernels) {
      if (fact.spill_bytes > kFewBytes && problem.empty())
        problem =
            fmt::format("[{}] spills {} bytes with {} registers; hold fewer values per thread or use fewer threads",
                        kernel, fact.spill_bytes, fact.registers);
      if (!fact.remark.empty() && problem.empty())
        problem = fmt::format("[{}] products of teams wait for each other: {}", kernel, fact.remark);
      if (!facts) continue;
      (*facts)[kernel + ".registers"] = std::to_string(fact.registers);
      (*facts)[kernel + ".spill_bytes"] = std::to_string(fact.spill_bytes);
      (*facts)[kernel + ".shared_bytes"] = std::to_string(fact.shared_bytes);
    }
    if (facts) (*facts)["compiler"] = made->compiler;
    return problem;
  }
  TargetTraits traits() const override { return {.gpu = true, .threadgroup_kib = 227, .teams = has_teams()}; }
  Result<std::unique_ptr<Device>> open(int index) const override { return open_device(index); }
  std::string unavailable() const override { return why_unavailable(); }
  int rank() const override { return 20; }
};

const CudaBackend backend;
[[maybe_unused]] const bool registered = register_backend(backend);

}  // namespace
}  // namespace mt::cuda
