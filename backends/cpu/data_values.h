// Which values are more than the index of a memory access.
#pragma once
#include <vector>

#include "mt/ir/kernel.h"

namespace mt::cpu {

/// A scalar integer of at least 32 bits.
bool is_index(Type t);

/// By value: whether anything but an index into memory comes of it. What serves as an index alone does not wrap where
/// it is used, by a rule of the language.
std::vector<bool> data_values(const Kernel& k);

}  // namespace mt::cpu
