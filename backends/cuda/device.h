// One GPU as a Device.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "backends/backend.h"

namespace mt::cuda {

/// The GPU of that number, or why there is none.
Result<std::unique_ptr<Device>> open_device(int index);
/// Why kernels can't run here; empty where they can.
std::string why_unavailable();

/// Target of a compute capability: `sm_90a` for 9.0, `sm_80` for 8.0.
std::string arch_of(int major, int minor);
/// Of the first device; nothing where there is none.
std::optional<std::string> first_arch();

}  // namespace mt::cuda
