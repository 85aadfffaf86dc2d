// The way from a registered kernel and a problem to a checked, compiled, bound call.
//
//   Runner runner(backend, device);
//   Call call = runner.prepare(entry, problem);       // contract, geometry, trace, passes, compile
//   BoundCall bound = call.bind({{"x", view}, ...});  // bytes, aliasing
//   bound.run(); device.wait();
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mt/harness/contract.h"
#include "mt/harness/program_cache.h"
#include "mt/harness/tuned.h"

namespace mt {

/// One launch of a call.
struct PreparedStage {
  std::string name;
  std::size_t index = 0;  // among all stages of the plan
  Groups groups;
  Compiled compiled;
  std::vector<std::uint64_t> scalars;
};

/// A call whose buffers are known and checked.
class BoundCall {
 public:
  /// Enqueues all launches. Throws Error.
  void run() const;
  /// Launches that `run` makes.
  std::size_t launches() const { return steps_.size(); }

 private:
  friend class Call;
  struct Step {
    std::shared_ptr<Program> program;
    Arguments arguments;
    Groups groups;
  };
  Device* device_ = nullptr;
  std::vector<Step> steps_;
  std::vector<std::shared_ptr<Buffer>> owned_;
};

/// A kernel compiled for one problem.
class Call {
 public:
  /// Every tensor of the kernel, temporaries too, in the order of declaration.
  const std::vector<TensorSlot>& tensors() const { return slots_; }
  /// The stages that launch something.
  const std::vector<PreparedStage>& stages() const { return stages_; }
  const Signature& signature() const { return instance_->signature(); }
  const Problem& problem() const { return problem_; }
  KernelInstance& instance() const { return *instance_; }
  /// All outputs have zero elements: running it launches nothing.
  bool empty() const { return empty_; }
  /// Whether a stage combines atomically, so that equal bits in every run are not promised.
  bool has_atomics() const;
  /// Whether it multiplies tiles of 16-bit numbers, which a matrix unit takes.
  bool has_matrix_products() const;
  /// Whether a stage reads or writes it.
  bool uses(const std::string& tensor) const;
  /// Tracing, passes and compilation; parts that the process had compiled before cost nothing.
  double compile_ms() const { return compile_ms_; }
  /// Tunables that a tuner chose for exactly this problem; empty where the plan, or the caller, chose.
  const Overrides& tuned() const { return tuned_; }

  /// The same call with other kernels for its stages, by `PreparedStage::index`, compiled as they are. Throws Error.
  Call with_kernels(const std::vector<Kernel>& stages) const;

  /// Binds buffers by tensor name. Temporaries that are not given are allocated. Throws Error where a view has not
  /// exactly its tensor's bytes or starts where the compiled kernel can't, or an output shares memory with another
  /// tensor.
  BoundCall bind(std::map<std::string, BufferView> views) const;

 private:
  friend class Runner;
  std::string id_;
  Problem problem_;
  std::shared_ptr<KernelInstance> instance_;
  Device* device_ = nullptr;
  std::vector<TensorSlot> slots_;
  std::vector<PreparedStage> stages_;
  bool empty_ = false;
  double compile_ms_ = 0;
  Overrides tuned_;
};

class Runner {
 public:
  /// Backend and device outlive the runner and its calls.
  Runner(const Backend& backend, Device& device) : backend_(&backend), device_(&device) {}
  /// Throws Error, `[kernel/dtype] sentence; problem n:5; with threads=64`, for whatever breaks the kernel's contract.
  Call prepare(const KernelEntry& entry, const Problem& problem, const Overrides& overrides = {});
  /// From now on a problem for which neither the caller nor the problem chooses tunables is run with those that the
  /// store, which outlives the runner, has for it. A choice that can't be used is noted there, and the plan's is.
  void use(const TunedStore* store) { tuned_ = store; }
  Device& device() const { return *device_; }
  const Backend& backend() const { return *backend_; }
  const ProgramCache& programs() const { return programs_; }

 private:
  std::optional<Call> tuned(const KernelEntry& entry, const Problem& problem, const Overrides& overrides);
  Call checked(const KernelEntry& entry, const Problem& problem, const Overrides& overrides);
  const Backend* backend_;
  Device* device_;
  const TunedStore* tuned_ = nullptr;
  ProgramCache programs_;
};

}  // namespace mt
