// What compiled Metal text may call: the runtime, the checker behind clang's instrumentation, libm.
#pragma once
#include <string_view>

namespace mt::metal_host {

/// Address of an external function of an object; null where generated code may not call it.
void* resolve_external(std::string_view name);

}  // namespace mt::metal_host
