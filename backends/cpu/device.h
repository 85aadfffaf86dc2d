// The host's cores as a device.
#pragma once
#include <memory>

#include "backends/backend.h"

namespace mt::cpu {

/// Threadgroup memory is ordinary memory of a worker: what stays in a second-level cache.
inline constexpr int kThreadgroupKib = 512;

std::unique_ptr<Device> open_device();

}  // namespace mt::cpu
