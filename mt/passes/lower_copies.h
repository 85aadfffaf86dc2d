// Asynchronous copies as the target can make them.
#pragma once
#include <string>

#include "mt/ir/edit.h"

namespace mt {

/// Emits the copy `inst` (a copy_async) in parts that `align`, the elements known to divide both places, allows: copies
/// of 4, 8 or 16 bytes where `async`, else loads and stores. Says in words what it did.
std::string lower_copy(Builder& b, const Inst& inst, int align, bool async);

}  // namespace mt
