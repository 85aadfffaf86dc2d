// Timed calls of one kernel through several sets of tensors, so that none is in the cache when its turn comes again.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "mt/harness/runner.h"

namespace mt {

/// How many sets of `bytes` each take the place of at least `wanted` bytes, as far as `memory` bytes and `most` sets
/// allow; at least 1.
std::size_t sets_for(std::size_t bytes, std::size_t wanted, std::size_t memory, std::size_t most);

/// Runs of the calls, one after the other through all sets.
class Rotation {
 public:
  /// Device and calls outlive it.
  Rotation(Device& device, std::vector<const BoundCall*> calls) : device_(device), calls_(std::move(calls)) {}
  /// Seconds of `count` calls, from the first launch to the end of the last.
  double run(std::size_t count);
  /// Some calls that the device has recorded, whole rounds through the sets; null where it does not record. Found so
  /// that they take a sample's time and a launch's own cost is spread.
  std::unique_ptr<Recording> record(std::size_t& count);

 private:
  void enqueue(std::size_t count);
  Device& device_;
  std::vector<const BoundCall*> calls_;
  std::size_t next_ = 0;
};

/// Samples of the time of one call: replays of a recording where the device makes some, else several calls by the
/// host's clock, as many as a sample takes to be long.
class Sampler {
 public:
  /// Runs the calls until their clock has had time to rise. Throws Error.
  Sampler(Device& device, const std::vector<const BoundCall*>& calls, double warm_seconds);
  /// Seconds of one call.
  double sample() { return run() / static_cast<double>(batch_); }
  /// The calls of one sample; seconds of all of them.
  double run() { return recorded_ ? recorded_->run() : calls_.run(batch_); }
  /// Brings code and page tables back after other work.
  void touch() { recorded_ ? recorded_->run() : calls_.run(1); }
  std::size_t batch() const { return batch_; }

 private:
  Rotation calls_;
  std::size_t batch_ = 1;
  std::unique_ptr<Recording> recorded_;
};

}  // namespace mt
