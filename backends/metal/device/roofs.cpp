#include "backends/metal/device/roofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backends/metal/device/queue.h"

namespace mt::metal {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::size_t kVector = 16;         // bytes of one access
constexpr std::size_t kReadsPerThread = 4;  // in flight at once
constexpr std::size_t kGrain = kThreads * kVector * kReadsPerThread;
constexpr int kChains = 8, kSteps = 512;              // of fused multiply-adds
constexpr std::size_t kFull = std::size_t{64} << 20;  // blocks that keep a whole GPU busy, as counts of threadgroups do
constexpr std::uint32_t kFullGroups = 2048, kFewGroups = 32;

constexpr const char* kText = R"(#include <metal_stdlib>
using namespace metal;

[[kernel]] void roof_copy(device const uint4* from [[buffer(0)]], device uint4* to [[buffer(1)]],
                          uint group [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]]) {
  const uint i = group * 256u + thread_index;
  to[i] = from[i];
}
[[kernel]] void roof_read(device const uint4* from [[buffer(0)]], device uint4* to [[buffer(1)]],
                          uint group [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]]) {
  const uint i = group * 1024u + thread_index;
  const uint4 all = from[i] ^ from[i + 256u] ^ from[i + 512u] ^ from[i + 768u];
  if ((all.x ^ all.y ^ all.z ^ all.w) == 0x5eed5eedu) to[thread_index] = all;
}
[[kernel]] void roof_write(device const uint4* from [[buffer(0)]], device uint4* to [[buffer(1)]],
                           uint group [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]]) {
  to[group * 256u + thread_index] = uint4(1u, 2u, 3u, 4u);
}
[[kernel]] void roof_arithmetic(device const float* from [[buffer(0)]], device float* to [[buffer(1)]],
                                uint thread_index [[thread_index_in_threadgroup]]) {
  const float x = from[thread_index], y = from[thread_index + 256u];
  float v[8];
  for (uint k = 0; k < 8u; ++k) v[k] = x + float(k);
  for (uint n = 0; n < 512u; ++n) {
    for (uint k = 0; k < 8u; ++k) v[k] = fma(v[k], x, y);
  }
  float all = 0.0f;
  for (uint k = 0; k < 8u; ++k) all += v[k];
  if (all == 12345.0f) to[thread_index] = all;
}
[[kernel]] void roof_empty(device const float* from [[buffer(0)]], device float* to [[buffer(1)]]) {
}
)";

std::shared_ptr<GpuBuffer> block(Gpu& gpu, std::size_t bytes) {
  auto memory = gpu.allocate(bytes);
  if (!memory) throw Error(fmt::format("metal: no memory for the {} bytes that measure the device", bytes));
  // Bits that differ: some memories are faster on zeros.
  std::memset(memory->contents(), 0x5a, bytes);
  return memory;
}

}  // namespace

std::string roofs_text() { return kText; }

double run_once(Gpu& gpu, const std::vector<Dispatch>& launches) {
  if (launches.empty()) return 0;
  const auto commands = gpu.commands();
  std::vector<std::string> names;
  for (const Dispatch& d : launches) {
    commands->encode(d);
    names.push_back(d.what);
  }
  commands->commit();
  const Outcome outcome = commands->wait();
  if (!outcome.error.empty()) throw Error("metal: " + outcome.error + suspects(names));
  return outcome.seconds;
}

Roofs::Roofs(Gpu& gpu, PipelineCache& pipelines, std::size_t bytes) : gpu_(gpu) {
  const GpuFacts& f = gpu.facts();
  const std::uint64_t most = std::min<std::uint64_t>(f.max_buffer_bytes, f.working_set_bytes / 8);
  bytes_ = std::max<std::size_t>(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, most)) / kGrain, 1) * kGrain;
  const auto get = [&](const char* name) {
    try {
      return pipelines.get(kText, name);
    } catch (const Error& e) {
      throw Error(fmt::format("metal: [{}] {}", name, e.what()));
    }
  };
  copy_ = get("roof_copy");
  read_ = get("roof_read");
  write_ = get("roof_write");
  arithmetic_ = get("roof_arithmetic");
  empty_ = get("roof_empty");
  from_ = block(gpu, bytes_);
  to_ = block(gpu, bytes_);
}

double Roofs::seconds(const std::shared_ptr<GpuPipeline>& pipeline, std::uint32_t groups, int launches) {
  Dispatch d;
  d.pipeline = pipeline;
  d.memories = {{from_, 0, bytes_}, {to_, 0, bytes_}};
  d.groups = {groups, 1, 1};
  d.threads = kThreads;
  d.what = fmt::format("what measures the device on {} threadgroups of {} threads", groups, kThreads);
  const std::vector<Dispatch> all(static_cast<std::size_t>(launches), d);
  run_once(gpu_, all);
  return run_once(gpu_, all) / launches;
}

Ceiling Roofs::measure() {
  const auto bytes = static_cast<double>(bytes_);
  const auto vectors = static_cast<std::uint32_t>(bytes_ / (kThreads * kVector));
  const std::uint32_t full = bytes_ >= kFull ? kFullGroups : kFewGroups;
  Ceiling c;
  c.copy = 2 * bytes / seconds(copy_, vectors, 3);
  c.read = bytes / seconds(read_, static_cast<std::uint32_t>(bytes_ / kGrain), 3);
  c.write = bytes / seconds(write_, vectors, 3);
  c.flops = 2.0 * kChains * kSteps * kThreads * full / seconds(arithmetic_, full, 3);
  c.launch = seconds(empty_, kFewGroups, 100);
  return c;
}

}  // namespace mt::metal
