// Batches whose tensors are larger than memory: addresses beyond 2^31 elements without the elements.
#pragma once
#include <functional>

#include "mt/harness/batch.h"
#include "mt/harness/test_case.h"

namespace mt {

/// Runs a batch where only its last item is written and, on a device with the switch `last_groups`, computed, and asks
/// for the bits that the item gives alone, which are held against the oracle. Memory is taken where it is touched if
/// the device maps it so; the rest of the inputs holds zeros. Never throws Error.
/// `change`, if any, gives the call that runs the batch in place of the kernel's own.
CaseResult run_last_item(Runner& runner, const KernelEntry& entry, const Problem& problem,
                         const std::function<Call(const Call& whole)>& change = {});

/// `problem` with so many items that a tensor which is split has more than `elements` elements; nothing where the
/// kernel declares no batch.
std::optional<Problem> enlarged(const KernelInstance& instance, const Problem& problem, std::int64_t elements);

}  // namespace mt
