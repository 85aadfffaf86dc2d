// A kernel of the registry, MLX's kernel and the oracle on the same inputs.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/text_runner.h"
#include "cli/reference/mlx.h"
#include "mt/harness/runner.h"

namespace mt::reference {

/// How a result stands to the oracle.
struct Judgement {
  bool ran = false;
  double error = 0, ratio = 0;  // of the worst element: absolute, and over its bound
  std::string wrong;            // sentences; empty where every element is right
  bool right() const { return ran && wrong.empty(); }
};

struct Comparison {
  std::string kernel, dtype, problem, mlx;  // mlx: the name of its kernel
  std::string device, mlx_device;           // where each ran
  std::int64_t compared = 0;                // elements, each with three values
  Judgement ours, theirs;
  std::string allowance;       // why MLX may be less exact than the oracle's bound; empty: it may not
  std::string differs;         // how MLX's definition differs; then the two are not compared with each other
  double difference = 0;       // largest between ours and MLX's; infinite where one is not finite and the other is
  std::int64_t different = 0;  // elements whose values differ
  std::string missing;         // why MLX's kernel is not there; nothing else is valid then
  double seconds = 0, compile_ms = 0;
  bool good() const { return missing.empty() && ours.right() && theirs.right() && compared > 0; }
  /// `agree`, `ours is wrong`, `MLX is wrong`, `both are wrong`; `not in this MLX`, or which of them did not run.
  std::string verdict() const;
};

struct ReferenceOptions {
  int cases = 3;    // problems for each kernel of MLX; 0: all
  Problem changes;  // laid over every problem
  Overrides overrides;
};

/// A problem of a kernel, with the kernels of MLX to run on it.
struct ReferenceCase {
  const KernelEntry* entry = nullptr;
  Problem problem;
  std::vector<Counterpart> counterparts;
};

/// Problems of the kernel's own tests that MLX has kernels for, a few for each, small enough to be emulated. Empty
/// where MLX has none.
std::vector<ReferenceCase> reference_cases(const KernelEntry& entry, const ReferenceOptions& options);

/// One comparison for each counterpart. Never throws Error: what goes wrong is in the comparisons.
std::vector<Comparison> compare(Runner& runner, const TextRunner& text, const std::string& text_device,
                                const MlxTree& tree, const ReferenceCase& one, const Overrides& overrides);

/// Runs the launches of a counterpart on `tensors`, which gain or change what is written. Seconds on the device, of all
/// launches. Throws Error.
double run_counterpart(const TextRunner& text, const MlxTree& tree, const Counterpart& c,
                       std::map<std::string, HostTensor>& tensors, double* compile_ms = nullptr);

/// Outputs and scratch tensors are added to the inputs, filled with what no kernel leaves by chance.
std::map<std::string, HostTensor> with_room(std::map<std::string, HostTensor> inputs, const Call& call,
                                            const Counterpart& c);

}  // namespace mt::reference
