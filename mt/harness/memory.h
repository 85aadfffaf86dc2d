// What a verified run needs of the host's memory, so that one that is too big ends with a sentence and not with the
// system killing the process.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "mt/harness/contract.h"

namespace mt {

/// Bytes that this process may still use without swapping, or nothing where the system does not say.
std::optional<double> free_memory();

/// Bytes of a verified run: the inputs as drawn, the tensors on the device, the outputs read back and what the oracle
/// expects of them.
double verified_bytes(const std::vector<TensorSlot>& slots);

/// Throws Error where a verified run of these tensors needs more than `free` bytes.
void check_memory(const std::vector<TensorSlot>& slots, std::optional<double> free = free_memory());

}  // namespace mt
