// What a device's memory and arithmetic give at best: the roof that kernels on it are held against.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "backends/backend.h"

namespace mt {

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

/// Measures rates each time it is asked.
class CeilingSource {
 public:
  virtual ~CeilingSource() = default;
  virtual Ceiling sample() = 0;
};

/// This host, with as many threads as it has cores and buffers far larger than its caches.
class HostCeiling final : public CeilingSource {
 public:
  HostCeiling();
  ~HostCeiling() override;
  HostCeiling(const HostCeiling&) = delete;
  HostCeiling& operator=(const HostCeiling&) = delete;
  /// One pass of each loop; some 50 ms.
  Ceiling sample() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What kernels on the device are held against: its own rates, or the host's where its buffers are the host's memory;
/// null where neither is known.
std::unique_ptr<CeilingSource> ceiling_of(Device& device);

/// Bytes of the host's last-level cache; 32 MiB where the system does not say.
std::size_t cache_bytes();
/// Bytes of the last-level cache that the device's buffers go through.
std::size_t cache_bytes(const Device& device);

}  // namespace mt
