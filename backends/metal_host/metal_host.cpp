// The metal-host backend: what the metal backend prints, run here.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "backends/backend.h"
#include "backends/metal_host/compiler.h"
#include "backends/metal_host/device.h"
#include "backends/metal_host/fiber.h"
#include "backends/metal_host/text_runner.h"

namespace mt::metal_host {
namespace {

const Backend& metal() {
  const Backend* b = find_backend("metal");
  if (!b) MT_ICE("metal-host needs the metal backend");
  return *b;
}

class MetalHostBackend final : public Backend {
 public:
  std::string_view name() const override { return "metal-host"; }
  std::string_view description() const override {
    return "the Metal text, compiled by clang 19 and run on the host's cores";
  }
  PipelineOptions pipeline() const override { return metal().pipeline(); }
  TargetTraits traits() const override { return metal().traits(); }
  Result<std::unique_ptr<Device>> open(int index) const override {
    if (index != 0) return Error(fmt::format("metal-host has one device, number 0, not {}", index));
    if (std::string why = unavailable(); !why.empty()) return Error(why);
    return open_device();
  }
  std::string unavailable() const override {
    if (!kHasFibers)
      return "metal-host runs on Linux on x86-64 and AArch64 only; on a Mac, --device metal runs the same text";
    return msl_unavailable();
  }
  int test_jobs() const override { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }
  const TextRunner* text_runner() const override { return &metal_host::text_runner(); }
  // Below every device that runs native code; the reference device is the last choice.
  int rank() const override { return 2; }
};

const MetalHostBackend backend;
[[maybe_unused]] const bool registered = register_backend(backend);

}  // namespace
}  // namespace mt::metal_host
