#include "mt/harness/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "mt/harness/table.h"

namespace mt {
namespace {

/// The number after `key` in a file of keys and numbers.
std::optional<double> entry(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return std::atof(line.c_str() + key.size());
  return std::nullopt;
}

/// What a limit of control groups leaves; pages of files count as free, as the system drops them first.
std::optional<double> left_of(const char* limit, const char* used, const char* stat, const char* file_pages) {
  const auto most = entry(limit, ""), now = entry(used, "");
  if (!most || !now || *most <= 0) return std::nullopt;  // "max" reads as 0
  return *most - *now + entry(stat, file_pages).value_or(0);
}

}  // namespace

std::optional<double> free_memory() {
  std::optional<double> least;
  const auto take = [&](std::optional<double> bytes) {
    if (bytes) least = std::min(least.value_or(*bytes), *bytes);
  };
  if (const auto kib = entry("/proc/meminfo", "MemAvailable:")) take(*kib * 1024);
  take(left_of("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat",
               "inactive_file "));
  take(left_of("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
               "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file "));
  return least;
}

double verified_bytes(const std::vector<TensorSlot>& slots) {
  constexpr double kExpected = sizeof(double) * 2;  // value and bound
  double bytes = 0;
  for (const TensorSlot& s : slots) {
    const auto size = static_cast<double>(s.bytes);
    bytes += size;  // on the device
    if (s.param->temporary) continue;
    bytes += size;  // drawn or read back
    if (s.param->access != Access::In) bytes += kExpected * static_cast<double>(s.count);
  }
  return bytes;
}

void check_memory(const std::vector<TensorSlot>& slots, std::optional<double> free) {
  const double needed = verified_bytes(slots);
  if (free && needed > *free)
    throw Error(
        fmt::format("its tensors and what the oracle expects take {}, but {} of memory are free; give smaller "
                    "sizes",
                    bytes_text(needed), bytes_text(*free)));
}

}  // namespace mt
