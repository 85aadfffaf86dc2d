// What the host's memory and arithmetic give at best: the roof that kernels on it are held against.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

namespace mt {

/// Rates of one moment.
struct Ceiling {
  double copy = 0;   // bytes read plus bytes written, per second
  double read = 0;   // bytes per second
  double write = 0;  // bytes per second
  double flops = 0;  // f32, a fused multiply-add counts as two
};

/// Seconds that this much work takes at the ceiling: bytes that are read and written run at the rate of a copy as far
/// as they balance, the rest at the rate of a read or a write; arithmetic runs beside them, and the slower of both
/// binds.
struct Roof {
  double memory_seconds = 0, compute_seconds = 0;
  double seconds() const { return memory_seconds > compute_seconds ? memory_seconds : compute_seconds; }
  bool memory_bound() const { return memory_seconds >= compute_seconds; }
};
Roof roof_of(double read_bytes, double written_bytes, double flops, const Ceiling& ceiling);

/// Median of each rate.
Ceiling median_of(const std::vector<Ceiling>& all);

/// Measures this host with as many threads as it has cores and buffers far larger than its caches.
class HostCeiling {
 public:
  HostCeiling();
  ~HostCeiling();
  HostCeiling(const HostCeiling&) = delete;
  HostCeiling& operator=(const HostCeiling&) = delete;
  /// One pass of each loop; some 50 ms.
  Ceiling sample();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Bytes of the last-level cache; 32 MiB where the system does not say.
std::size_t cache_bytes();

}  // namespace mt
