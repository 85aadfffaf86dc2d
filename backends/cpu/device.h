// The host's cores as a device.
#pragma once
#include <memory>

#include "backends/backend.h"

namespace mt::cpu {

std::unique_ptr<Device> open_device();

}  // namespace mt::cpu
