// One bench problem: verified in full, then measured beside the ceilings of the machine.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mt/harness/ceiling.h"
#include "mt/harness/peer.h"
#include "mt/harness/runner.h"
#include "mt/harness/statistics.h"

namespace mt {

struct BenchOptions {
  StoppingCriterion stop;
  Overrides overrides;
  double ceiling_every = 0.06;     // seconds of samples between two looks at the ceilings
  std::size_t rotation_bytes = 0;  // tensors are rotated through copies of at least this; 0: thrice the cache
  std::size_t memory = std::size_t{4} << 30;  // copies take no more than this
  std::size_t most_copies = 1024;
  Peer* peer = nullptr;  // timed in turns with the kernel
};

/// What a peer made of the same problem, in one of its ways.
struct PeerResult {
  std::string name;   // "torch eager"
  std::string error;  // why there is no time, or why its output is not what the oracle expects
  Summary time;       // seconds of one call
};

struct BenchResult {
  std::string kernel, dtype, problem, device;
  bool verified = false;
  std::string error;          // why it is not verified or could not be measured; nothing below is valid then
  std::int64_t compared = 0;  // elements, before timing
  double compile_ms = 0;
  Overrides chosen;  // tunables that the caller chose
  Overrides tuned;   // or a tuner
  Work work;
  Summary time;            // seconds of one call
  double cpu_seconds = 0;  // of all threads, one call
  std::int64_t iterations = 0;
  std::size_t copies = 1;        // sets of tensors that calls rotated through
  std::size_t tensor_bytes = 0;  // of one set
  bool cached = false;           // all copies together fit the cache: not a measurement of memory
  bool on_matrix_unit = false;   // the ceiling of arithmetic is the matrix unit's
  bool has_roof = false;         // ceilings of this device are known
  Ceiling ceiling;               // medians of what was measured between the samples
  Roof roof;
  std::vector<PeerResult> peers;
  std::string swept;       // the size whose values a sweep went through; empty where there was none
  double times_first = 0;  // of a sweep: its time over that of the first kernel in the same turns, where both have one
  std::string cliff;       // of a sweep: why the time is more than its neighbours explain
  double bytes_per_second() const { return (work.read + work.written) / time.median; }
  double flops_per_second() const { return work.flops / time.median; }
  double roof_fraction() const { return roof.seconds() / time.median; }
  double roof_bytes_per_second() const {
    return roof.memory_seconds > 0 ? (work.read + work.written) / roof.memory_seconds : 0;
  }
};

using BenchProblem = std::pair<const KernelEntry*, Problem>;

/// Several problems, a sample of each in turn until all have enough; with a peer there is one. Never throws Error:
/// whatever goes wrong with one is in its `error`. Throws Interrupted after Ctrl-C. There is no roof where `ceiling` is
/// null.
///
/// A device that records launches replays them and times them by its own clock; elsewhere the host's clock times
/// launches until the device has finished.
std::vector<BenchResult> run_in_turns(Runner& runner, const std::vector<BenchProblem>& problems,
                                      const BenchOptions& options, CeilingSource* ceiling);
/// One alone.
BenchResult run_bench(Runner& runner, const KernelEntry& entry, const Problem& problem, const BenchOptions& options,
                      CeilingSource* ceiling);

}  // namespace mt
