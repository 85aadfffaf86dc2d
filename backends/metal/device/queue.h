// Launches in the order they were made, chained in few command buffers.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/metal/device/gpu.h"

namespace mt::metal {

/// Launches of one command buffer. More would leave the GPU idle while the host encodes, and a command buffer that
/// runs for seconds may be ended by the system.
inline constexpr std::size_t kMostChained = 64;

class Queue {
 public:
  explicit Queue(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  /// Waits; an error that nobody asked for is dropped.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Encodes a launch, or keeps it while launches are recorded. Throws Error.
  void add(Dispatch dispatch);
  /// Runs what was added and waits for it. Throws Error for the first launch that failed; the others have ended then.
  void wait();

  /// From here to `take_recorded` launches are kept and not run. Throws Error where that has begun already.
  void begin_recording();
  std::vector<Dispatch> take_recorded();

  Gpu& gpu() { return *gpu_; }

 private:
  /// A command buffer and the launches in it.
  struct Chain {
    std::unique_ptr<GpuCommands> commands;
    std::vector<std::string> launches;
  };
  void commit();
  /// Waits for the oldest command buffer, and keeps its error.
  void retire();
  std::shared_ptr<Gpu> gpu_;
  Chain open_;
  std::deque<Chain> running_;
  std::string failed_;  // the first error since wait() last threw
  std::optional<std::vector<Dispatch>> recorded_;
};

/// `; launched was [a] ...`, or the last of them where they are several. Empty for none.
std::string suspects(const std::vector<std::string>& launches);

}  // namespace mt::metal
