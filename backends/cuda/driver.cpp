#include "backends/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace mt::cuda {
namespace {

constexpr int kOldest = 12000;  // streams captured into graphs, cubins of sm_90a
constexpr const char* kTextOnly = "; `tile build --target cuda` still writes the text";

}  // namespace

std::string Driver::text(Status status) const {
  const char *name = nullptr, *string = nullptr;
  if (error_name(status, &name) != 0 || !name) return fmt::format("CUDA error {}", status);
  if (error_string(status, &string) != 0 || !string) return name;
  return fmt::format("{} ({})", string, name);
}

std::string version_text(int version) { return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10); }

Result<Driver> load_driver(const char* library) {
  void* opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!opened) return Error(fmt::format("cuda: no NVIDIA driver here ({}){}", dlerror(), kTextOnly));
  Driver d;
#define X(name, symbol, parameters)                                                                     \
  d.name = reinterpret_cast<Status(*) parameters>(dlsym(opened, symbol));                               \
  if (!d.name)                                                                                          \
    return Error(fmt::format("cuda: {} has no {}; install a driver for {} or newer{}", library, symbol, \
                             version_text(kOldest), kTextOnly));
  MT_CUDA_DRIVER(X)
#undef X
  if (const Status s = d.init(0))
    return Error(s == kNoDevice ? fmt::format("cuda: the driver finds no GPU{}", kTextOnly)
                                : fmt::format("cuda: the driver does not start: {}{}", d.text(s), kTextOnly));
  d.driver_version(&d.version);
  if (d.version < kOldest)
    return Error(fmt::format("cuda: the driver is for {}; install one for {} or newer{}", version_text(d.version),
                             version_text(kOldest), kTextOnly));
  d.device_count(&d.devices);
  if (d.devices < 1) return Error(fmt::format("cuda: the driver finds no GPU{}", kTextOnly));
  return d;
}

const Result<const Driver*>& driver() {
  static const Result<Driver> loaded = load_driver("libcuda.so.1");
  static const Result<const Driver*> result = [] {
    if (loaded) return Result<const Driver*>(&*loaded);
    return Result<const Driver*>(loaded.error());
  }();
  return result;
}

}  // namespace mt::cuda
