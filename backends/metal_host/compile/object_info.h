// What the object says of its kernels, read from its bytes; and the whole result as bytes for the cache.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "backends/metal_host/compiler.h"

namespace mt::metal_host {

/// Bytes of the variable `symbol` in an ELF64 object; empty where there is none.
std::string_view variable_bytes(std::string_view object, std::string_view symbol);
/// Fills in sizes, scalars and spaces of the kernels' parameters.
void read_parameter_info(MslObject& object);
std::string pack(const MslObject& object);
std::optional<MslObject> unpack(std::string_view bytes);

}  // namespace mt::metal_host
