#include "backends/cpu/cpu_info.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace mt::cpu {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::size_t bytes_in(const std::string& text) {
  if (text.empty()) return 0;
  const std::size_t unit = text.back() == 'K' ? 1024 : text.back() == 'M' ? 1024 * 1024 : 1;
  return static_cast<std::size_t>(std::strtoull(text.c_str(), nullptr, 10)) * unit;
}

/// What this process may use, where the system says.
int usable_cores() {
#ifdef CPU_COUNT
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

CpuInfo read() {
  CpuInfo c;
  std::string flags, line;
  std::ifstream in("/proc/cpuinfo");
  while (std::getline(in, line)) {
    const auto colon = line.find(':');
    if (colon == line.npos) {
      if (!flags.empty()) break;  // one core tells it all
      continue;
    }
    const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    const auto is = [&](const char* key) { return line.starts_with(key); };
    if (is("model name")) c.name = value;
    if (is("flags") || is("Features")) flags = " " + value + " ";
    if (is("model") || is("cpu family") || is("CPU part") || is("CPU implementer")) c.identity += value + "/";
  }
  c.identity += c.name + flags;
  const auto has = [&](const std::string& f) { return flags.find(" " + f + " ") != flags.npos; };
  c.emit.small_masks = has("avx512bw") && has("avx512vl");
  c.emit.avx512 = has("avx512f") && has("avx512dq");
  c.emit.native_bf16 = c.emit.avx512 && has("avx512_bf16");
  c.isa = has("avx512f") ? "AVX-512" : has("avx2") ? "AVX2" : has("asimd") ? "NEON" : "baseline";
  if (c.name.empty()) c.name = "CPU";
  c.cores = std::max(1, usable_cores());
  c.details["cores"] = std::to_string(c.cores);
  c.details["isa"] = c.isa;
  std::string extras;
  for (const char* f : {"f16c", "fma", "avx512bw", "avx512_bf16", "avx512_vnni", "avx512_fp16", "bf16", "sve"})
    if (has(f)) extras += (extras.empty() ? "" : " ") + std::string(f);
  if (!extras.empty()) c.details["features"] = extras;
  for (int level = 0; level < 4; ++level) {
    const std::string at = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", level);
    const std::string size = first_line(at + "size");
    if (size.empty() || first_line(at + "type") == "Instruction") continue;
    c.details["cache_l" + first_line(at + "level")] = size;
    c.last_cache = std::max(c.last_cache, bytes_in(size));
  }
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  if (pages > 0)
    c.details["memory_gib"] = fmt::format("{:.1f}", static_cast<double>(pages) * static_cast<double>(page) / (1 << 30));
  return c;
}

}  // namespace

const CpuInfo& cpu_info() {
  static const CpuInfo info = read();
  return info;
}

}  // namespace mt::cpu
