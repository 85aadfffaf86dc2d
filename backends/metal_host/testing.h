// Entries written in C++ in place of compiled text, and one launch of them.
#pragma once
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backends/metal_host/launch.h"
#include "mt/base/error.h"

namespace mt::metal_host::testing {

/// A launch of one row of threadgroups over the given memory, bound to indices 0, 1, ...
struct Trial {
  Launch launch;
  LaunchCounts counts;

  Trial(msl_entry entry, std::uint32_t groups, std::uint32_t threads) {
    launch.entry = entry;
    launch.grid = {groups * threads, 1, 1};
    launch.threads = {threads, 1, 1};
  }
  template <class T>
  Trial& bind(std::vector<T>& v, const char* name = "", int granule = static_cast<int>(sizeof(T) < 4 ? sizeof(T) : 4)) {
    launch.buffers.push_back({static_cast<int>(launch.buffers.size()), reinterpret_cast<std::byte*>(v.data()),
                              v.size() * sizeof(T), name, false, granule});
    return *this;
  }
  /// The fault's sentence; empty where there was none.
  std::string operator()() {
    counts = {};
    const auto fault = run_launch(launch, &counts);
    return fault ? fault->what : "";
  }
};

template <class T>
T* buffer(const msl_context* c, int n) {
  return reinterpret_cast<T*>(c->buffer[n]);
}
inline std::uint32_t thread(const msl_context* c) { return c->thread_index_in_threadgroup; }

/// Lane i's value of a simd operation that hands in one T.
template <class T>
std::vector<T> exchange(msl_simd_op op, T value) {
  const auto* slots = static_cast<const std::byte*>(msl_rt_simd(op, &value, sizeof value));
  std::vector<T> all(MSL_LANES);
  for (std::size_t i = 0; i < MSL_LANES; ++i) std::memcpy(&all[i], slots + i * MSL_SLOT_BYTES, sizeof(T));
  return all;
}

}  // namespace mt::metal_host::testing
