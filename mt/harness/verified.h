// A prepared call with guarded tensors and expected outputs: what test and bench both verify with.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "mt/base/expected.h"
#include "mt/harness/guarded.h"
#include "mt/harness/runner.h"
#include "mt/oracle/compare.h"

namespace mt {

/// One set of device tensors for a call, from declaration order.
class TensorSet {
 public:
  /// Allocates all tensors of the call. Throws Error.
  TensorSet(Device& device, const Call& call);
  /// Writes inputs; poisons outputs and temporaries.
  void reset(const std::map<std::string, HostTensor>& inputs);
  /// Resets, runs the call once and waits for it. Throws Error.
  void run(const std::map<std::string, HostTensor>& inputs);
  /// Sentences about guards that were written and inputs that changed; empty where none was.
  std::string damage(const std::map<std::string, HostTensor>& inputs) const;
  /// Outputs in the order of declaration, InOut tensors among them.
  std::vector<HostTensor> outputs() const;
  const BoundCall& bound() const { return bound_; }

 private:
  Device& device_;
  std::vector<GuardedTensor> tensors_;
  BoundCall bound_;
};

/// The first element whose bits differ; tensors of different sizes differ at 0. With `nans_alike` one NaN is as good as
/// another.
std::optional<std::int64_t> different_element(const HostTensor& a, const HostTensor& b, bool nans_alike = false);

struct Verification {
  std::int64_t compared = 0;
  std::int64_t unspecified = 0;  // written, and no more is asked of them
  oracle::CompareResult worst;   // of the output with the largest error over its bound
  std::string error;             // sentences; empty where all is right
};

/// Compares every element of all outputs. An output that the oracle does not mention, or an expectation for a tensor
/// that is no output, is wrong.
Verification verify_outputs(const std::vector<HostTensor>& outputs, const ExpectedOutputs& expected);

}  // namespace mt
