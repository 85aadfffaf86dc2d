// One item of a batch by itself: kernels that declare `batch()` or `independent()` promise that its results do not
// depend, to the bit, on what else is in the batch.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mt/harness/runner.h"

namespace mt {

struct Batch {
  std::vector<std::string> sizes;  // that count items, and are not 1
  std::int64_t items = 0;
  Problem alone;           // the problem of one item
  bool only_last = false;  // the promise is about the last item
};

/// The batch of a problem; nothing where the kernel declares none or the problem has fewer than two items.
std::optional<Batch> batch_of(const KernelInstance& instance, const Problem& problem);

/// All that the kernel promises: its batch, then its independent sizes as far as they have two items.
std::vector<Batch> promises_of(const KernelInstance& instance, const Problem& problem);

/// Whether a tensor holds a part for each item.
bool is_split(const TensorParam& tensor, const Batch& batch);
/// The part of item `item`; the whole of a tensor that all items share.
HostTensor item_of(const HostTensor& whole, const TensorParam& tensor, const Batch& batch, std::int64_t item);

/// Runs items of a call by themselves and compares with what they gave in it: a sentence about the first element that
/// differs, empty where none does.
std::string compare_alone(Runner& runner, const KernelEntry& entry, const Call& call,
                          const std::map<std::string, HostTensor>& inputs, const std::vector<HostTensor>& outputs,
                          const Overrides& overrides);

}  // namespace mt
