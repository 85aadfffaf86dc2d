// Tensors on a device with a known pattern before and after each, so that a write outside is found.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "mt/base/host_tensor.h"
#include "mt/harness/contract.h"

namespace mt {

inline constexpr std::size_t kGuardBytes = 4096;

/// A tensor between two guard bands.
class GuardedTensor {
 public:
  /// Allocates; the contents of the tensor are undefined until `write` or `poison`. Throws Error.
  GuardedTensor(Device& device, const TensorSlot& slot);
  BufferView view() const { return {buffer_.get(), kGuardBytes, slot_.bytes}; }
  /// Copies the tensor in and draws the guards anew.
  void write(const HostTensor& from);
  /// Fills the tensor with what no kernel leaves by chance (NaN in every float type) and draws the guards anew.
  void poison();
  /// Copies the tensor out.
  HostTensor read() const;
  /// Whether the tensor holds exactly this.
  bool holds(const HostTensor& expected) const;
  /// A sentence about the first byte that changed outside the tensor; empty where none did.
  std::string broken_guard() const;
  const TensorSlot& slot() const { return slot_; }

 private:
  void draw_guards();
  TensorSlot slot_;
  std::unique_ptr<Buffer> buffer_;
};

/// Fills host memory as `GuardedTensor::poison` does.
void poison(HostTensor& tensor);
/// Whether element `i` still holds what `poison` left there.
bool is_poison(const HostTensor& tensor, std::int64_t i);

/// Inputs of a problem by name: tensors that a kernel reads, filled as their declaration says.
std::map<std::string, HostTensor> make_inputs(const std::vector<TensorSlot>& slots, const Problem& problem);

}  // namespace mt
