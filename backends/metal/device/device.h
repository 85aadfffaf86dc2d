// A GPU of Metal's as a Device.
#pragma once
#include <memory>

#include "backends/backend.h"
#include "backends/metal/device/gpu.h"

namespace mt::metal {

/// Limits of any kernel on a GPU; a compiled kernel may have less. Throws Error where the GPU has less than the
/// language promises.
Limits limits_of(const GpuFacts& facts);

/// `ceiling_bytes`: of each of the two blocks that measure_ceiling moves.
std::unique_ptr<Device> make_device(std::shared_ptr<Gpu> gpu, std::size_t ceiling_bytes = std::size_t{256} << 20);

}  // namespace mt::metal
