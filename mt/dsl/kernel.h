// A kernel as the rest of the system sees it: one object a name and dtype, whatever struct it was written as.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"
#include "mt/dsl/trace.h"

namespace mt {

/// What an oracle reads: the inputs of one call and its problem.
class Inputs {
 public:
  Inputs(const std::map<std::string, HostTensor>& tensors, const Problem& problem, const Signature& signature)
      : tensors_(tensors), problem_(problem), signature_(signature) {}
  /// Input tensor of that name (for an InOut tensor: its contents before the call).
  const HostTensor& operator[](std::string_view name) const;
  std::int64_t size(std::string_view name) const { return problem_[name]; }
  /// A real scalar: the problem's, or its declared default.
  double real(std::string_view name) const;
  const Problem& problem() const { return problem_; }

 private:
  const std::map<std::string, HostTensor>& tensors_;
  const Problem& problem_;
  const Signature& signature_;
};

/// One launch of a kernel that may consist of several.
struct StagePlan {
  std::string name;  // empty for a kernel of one stage
  Launch launch;
};

/// Choices made by the command line or a tuner, by tunable name.
using Overrides = std::map<std::string, int>;

/// An instance of a kernel struct, ready to be planned and traced. Not shared between threads.
class KernelInstance {
 public:
  virtual ~KernelInstance() = default;
  const Signature& signature() const { return signature_; }
  /// Checks the preconditions, chooses tunables, and computes the geometry of every stage. Throws Error.
  virtual std::vector<StagePlan> plan(const Problem& problem, TargetTraits traits, const Overrides& overrides = {}) = 0;
  /// Records the body of stage `stage` as planned; call `plan` first. Throws Error.
  virtual Kernel trace(std::size_t stage) = 0;
  virtual ExpectedOutputs oracle(const Inputs& inputs) const = 0;
  /// Sizes and real parameters that the last plan() chose by, beyond the geometry of the launches: what trace() records
  /// is meant for their values, and for any value of the others.
  const std::set<std::string>& chosen_by() const { return chosen_by_; }
  virtual Problems tests() const = 0;
  virtual Problems benches() const = 0;
  virtual Work work(const Problem& problem) const = 0;
  /// Sizes that count independent items (rows, heads): a result does not depend, to the bit, on what else is in the
  /// batch. All are divided alike to leave fewer items, except those that are 1: they count what all items share. Empty
  /// where the kernel promises nothing.
  virtual std::vector<std::string> batch() const { return {}; }
  /// More such promises, along any axis: each group of sizes counts items (heads, queries) of which the last one by
  /// itself, its problem being the same otherwise, gives the bits that it gives among the others.
  virtual std::vector<std::vector<std::string>> independent() const { return {}; }

 protected:
  Signature signature_;
  std::set<std::string> chosen_by_;
};

/// A registered kernel: a name and the dtype it is instantiated for.
struct KernelEntry {
  std::string name;
  DType dtype;
  Loc loc;  // of the registration
  std::function<std::unique_ptr<KernelInstance>()> make;
  std::string id() const { return name + "/" + std::string(name_of(dtype)); }
};

/// All kernels, sorted by name, then in the order of their dtypes.
const std::vector<KernelEntry>& kernels();
/// Adds an entry; a second kernel of the same name and dtype is an internal error.
void add_kernel(KernelEntry entry);

}  // namespace mt
