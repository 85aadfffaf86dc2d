// What every device asks of a read or a write of its buffers.
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "mt/base/error.h"

namespace mt {

/// Throws Error where `bytes` at `offset` leave a buffer of `size` bytes on the device.
inline void check_buffer_range(std::string_view device, std::size_t bytes, std::size_t offset, std::size_t size) {
  if (offset > size || bytes > size - offset)
    throw Error(fmt::format("{}: {} bytes at {} do not lie in a buffer of {}", device, bytes, offset, size));
}

}  // namespace mt
