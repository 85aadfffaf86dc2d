// What the Metal device asks of a GPU: its facts, shared memory, pipelines and command buffers. apple/ answers through
// metal-cpp on a Mac; tests answer elsewhere, so that everything above this line runs wherever the tests do.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mt/base/error.h"

namespace mt::metal {

struct GpuFacts {
  std::string name;
  std::map<std::string, std::string> details;  // architecture, system, ...
  std::uint64_t max_threads = 0;               // of a threadgroup
  std::uint64_t threadgroup_bytes = 0;
  std::uint64_t max_buffer_bytes = 0;
  std::uint64_t working_set_bytes = 0;  // that the system recommends at most
};

/// Memory that host and GPU share.
class GpuBuffer {
 public:
  virtual ~GpuBuffer() = default;
  virtual std::byte* contents() = 0;
};

/// A kernel of a text, compiled for the GPU, with the limits that it has as compiled.
struct GpuPipeline {
  std::uint64_t max_threads = 0;
  std::uint64_t simd_width = 0;
  std::uint64_t threadgroup_bytes = 0;
  virtual ~GpuPipeline() = default;
};

/// One launch. It keeps what it uses.
struct Dispatch {
  struct Memory {
    std::shared_ptr<GpuBuffer> buffer;  // null: nothing is bound, and the kernel touches nothing
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };
  struct Scalar {
    std::uint64_t bits = 0;  // little-endian, zero-extended
    std::size_t bytes = 0;
  };
  std::shared_ptr<GpuPipeline> pipeline;
  std::vector<Memory> memories;  // at buffer index 0, 1, ...
  std::vector<Scalar> scalars;   // at the indices that follow
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  std::uint32_t threads = 32;  // of a threadgroup
  std::string what;            // kernel and geometry, for messages
};

/// How a command buffer ended.
struct Outcome {
  std::string error;   // a sentence; empty where it went well
  double seconds = 0;  // from the GPU's start of the first launch to the end of the last
};

/// A command buffer with one encoder, in which launches follow each other: each sees what those before it wrote.
class GpuCommands {
 public:
  virtual ~GpuCommands() = default;
  virtual void encode(const Dispatch& dispatch) = 0;
  /// Nothing is encoded afterwards.
  virtual void commit() = 0;
  /// Waits until it has run.
  virtual Outcome wait() = 0;
};

class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual const GpuFacts& facts() const = 0;
  /// `bytes` above 0, contents undefined; null where there is no memory left.
  virtual std::shared_ptr<GpuBuffer> allocate(std::size_t bytes) = 0;
  /// Compiles `text` as Metal 3.1 without fast maths. Throws Error with the compiler's words.
  virtual std::shared_ptr<GpuPipeline> compile(const std::string& text, const std::string& kernel) = 0;
  /// Throws Error where the queue gives none.
  virtual std::unique_ptr<GpuCommands> commands() = 0;
};

/// The GPU of this machine, or why there is none.
Result<std::unique_ptr<Gpu>> open_gpu(int index);
/// Why none can be opened; empty where one can.
std::string why_no_gpu();

}  // namespace mt::metal
