// How long a device took to compile the kernels of a run.
#pragma once
#include <string>
#include <vector>

namespace mt {

/// One launch compiled by a device: without tracing and passes.
struct CompileTime {
  std::string what;  // kernel/dtype, and the stage where the kernel has several
  double ms = 0;
  bool from_cache = false;  // read from the cache on disk
};

/// Lines: how many were compiled, the median and the longest of their times, how many took more than `limit_ms`, and
/// which kernels took longest, `shown` of them at most. What came from the cache is counted and left out of the times.
std::string compile_times_text(const std::vector<CompileTime>& times, double limit_ms, std::size_t shown = 5);

}  // namespace mt
