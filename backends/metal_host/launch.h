// One launch of an entry of a compiled object on the host's cores.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/metal_host/abi.h"

namespace mt::metal_host {

inline constexpr std::uint32_t kMaxThreads = 1024;
inline constexpr std::size_t kMaxThreadgroupBytes = 32 << 10;

/// Memory at one buffer index.
struct Binding {
  int index = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::string name;        // in reports; may be empty
  bool read_only = false;  // the kernel says const
  int granule = 1;         // bytes that different threads may own side by side: 1, 2 or 4
};

/// `buffer 1 (weights)`.
std::string label(const Binding& b);

/// In which order simdgroups, their lanes and the threadgroups of a launch run: a result that depends on it is a race.
struct Schedule {
  enum Kind : std::uint8_t { Forward, Reverse, Random } kind = Forward;
  std::uint64_t seed = 0;
};

struct Launch {
  msl_entry entry = nullptr;
  const std::byte* code = nullptr;  // the object in memory, to tell the kernel's own addresses
  std::size_t code_bytes = 0;
  std::vector<Binding> buffers;
  std::vector<std::pair<int, std::size_t>> threadgroup;  // index and bytes of memory that the launch provides
  std::array<std::uint32_t, 3> grid{1, 1, 1};            // threads
  std::array<std::uint32_t, 3> threads{1, 1, 1};         // of a threadgroup; those at the edge of the grid are smaller
  Schedule schedule;
  bool check = false;          // the object is instrumented: bounds, races, reads of what nothing wrote
  int workers = 1;             // OS threads that share the threadgroups; 1 where `check` is set
  double budget_seconds = 20;  // processor time that one threadgroup may take before it counts as endless
};

/// What ended a launch. Addresses are of the kernel's code, null where unknown.
struct Fault {
  std::string what;             // a sentence without place and kernel; `{other}` stands for the second place
  const void* at = nullptr;     // of the operation
  const void* other = nullptr;  // of another operation that takes part
};

struct LaunchCounts {
  std::uint64_t threads = 0, switches = 0, barriers = 0, simd_operations = 0, accesses = 0;
};

/// Runs all threadgroups; nothing comes back where all went well. Throws Error where the machine lacks memory.
std::optional<Fault> run_launch(const Launch& launch, LaunchCounts* counts = nullptr);

}  // namespace mt::metal_host
