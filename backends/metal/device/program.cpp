#include "backends/metal/device/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "backends/clike/alignment.h"
#include "backends/metal/text.h"
#include "mt/base/hash.h"

namespace mt::metal {
namespace {

constexpr std::size_t kWidestAccess = 16;  // bytes
constexpr std::size_t kMostPipelines = 1024;

int as_int(std::uint64_t n) { return static_cast<int>(std::min<std::uint64_t>(n, std::numeric_limits<int>::max())); }

}  // namespace

std::shared_ptr<GpuPipeline> PipelineCache::get(const std::string& text, const std::string& kernel, bool* found) {
  const std::string key = hash_hex(kernel + "\n" + text);
  const auto made = made_.find(key);
  if (found) *found = made != made_.end();
  if (made != made_.end()) return made->second;
  auto pipeline = gpu_->compile(text, kernel);
  if (made_.size() >= kMostPipelines) made_.clear();
  return made_[key] = std::move(pipeline);
}

MetalProgram::MetalProgram(const Kernel& kernel, PipelineCache& cache)
    : name_(kernel.name),
      threads_(kernel.threads),
      slots_(slots_of(kernel)),
      alignment_(clike::view_alignments(kernel, kWidestAccess)) {
  const auto start = std::chrono::steady_clock::now();
  try {
    pipeline_ = cache.get(metal_text({kernel}), name_, &from_cache);
  } catch (const Error& e) {
    throw Error(fmt::format("metal: [{}] {}", name_, e.what()));
  }
  if (pipeline_->simd_width != kLanes)
    throw Error(
        fmt::format("metal: [{}] a simdgroup of this GPU has {} threads, but kernels are written for {}; it takes "
                    "another GPU, any of Apple's has {}",
                    name_, pipeline_->simd_width, kLanes, kLanes));
  max_threads_ = as_int(pipeline_->max_threads);
  details["max_threads"] = std::to_string(max_threads_);
  details["threadgroup_bytes"] = std::to_string(pipeline_->threadgroup_bytes);
  compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Dispatch MetalProgram::dispatch(const Arguments& arguments, const Groups& groups) const {
  check_arguments("metal", name_, slots_, arguments);
  // Metal ends the process where a threadgroup is larger than its pipeline allows.
  if (threads_ > max_threads_)
    throw Error(
        fmt::format("metal: [{}] a threadgroup has {} threads, but as compiled for this GPU it may have {}; "
                    "use fewer threads or hold fewer values a thread",
                    name_, threads_, max_threads_));
  Dispatch d;
  d.pipeline = pipeline_;
  d.groups = grid_of("metal", name_, groups, threads_);
  d.threads = static_cast<std::uint32_t>(threads_);
  for (const Slot& s : slots_)
    if (s.scalar) d.scalars.push_back({arguments.scalars[s.position], static_cast<std::size_t>(size_of(s.dtype))});
  d.what = fmt::format("[{}] on {}x{}x{} threadgroups of {} threads", name_, groups[0], groups[1], groups[2], threads_);
  return d;
}

}  // namespace mt::metal
