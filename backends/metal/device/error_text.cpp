#include "backends/metal/device/error_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace mt::metal {
namespace {

struct Code {
  std::int64_t code;
  const char *name, *meaning;
};
// Numbers of MTLCommandBufferError; apple/metal_gpu.cpp asserts that metal-cpp has the same.
constexpr std::array<Code, 11> kCodes = {{
    {1, "internal", "the driver failed"},
    {2, "timeout", "a launch took longer than the system allows, mostly a loop that never ends; launch less at once"},
    {3, "page fault", "a kernel touched memory that is not bound; `tile check` names the access"},
    {4, "access revoked", "the system took the GPU from this process after an earlier fault; start again"},
    {7, "not permitted", "this process may not use the GPU, as in the background"},
    {8, "out of memory", "the buffers of the launches do not fit; use fewer or smaller tensors"},
    {9, "invalid resource", "a buffer was freed while a launch used it"},
    {10, "memoryless", "the resources of the launches cannot be held"},
    {11, "device removed", "the GPU was unplugged"},
    {12, "stack overflow", "a kernel's own arrays do not fit its stack; hold fewer values a thread"},
    {0, "none", "the system gave no reason"},
}};

}  // namespace

std::string failure_text(const CommandFailure& f) {
  std::string text;
  for (const Code& c : kCodes)
    if (c.code == f.code && (f.domain.empty() || f.domain == "MTLCommandBufferErrorDomain"))
      text = fmt::format("a launch failed, {}: {}", c.name, c.meaning);
  if (text.empty()) text = fmt::format("a launch failed with error {} of {}", f.code, f.domain);
  if (!f.message.empty()) text += fmt::format(" ({})", f.message);
  if (!f.encoder.empty()) text += fmt::format("; the launches are {}", f.encoder);
  if (!f.logs.empty()) text += fmt::format("; shader validation says: {}", fmt::join(f.logs, "; "));
  return text;
}

std::string compiler_text(const std::string& message, const std::string& file) {
  // The compiler calls a text that came from memory program_source.
  constexpr std::string_view kSource = "program_source";
  std::string out;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t end = std::min(message.find('\n', at), message.size());
    std::string line = message.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line.find_first_not_of(" ^~\t") == line.npos) continue;
    if (line.find(" error generated") != line.npos || line.find(" errors generated") != line.npos) continue;
    if (line.starts_with("Compilation failed")) continue;
    if (line.starts_with(kSource)) line.replace(0, kSource.size(), file);
    out += (out.empty() ? "" : "\n") + line;
  }
  return out.empty() ? "the compiler refused the text and gave no reason" : out;
}

}  // namespace mt::metal
