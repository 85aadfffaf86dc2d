#include "backends/metal/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/buffer_range.h"
#include "backends/metal/device/program.h"
#include "backends/metal/device/queue.h"
#include "backends/metal/device/roofs.h"

namespace mt::metal {
namespace {

constexpr std::size_t kAlignment = 256;  // bytes
constexpr std::size_t kPage = 16384;     // memory of whole pages starts at one
constexpr std::uint64_t kLeastThreads = 32;

/// Reads and writes wait for the launches before them.
class MetalBuffer final : public Buffer {
 public:
  MetalBuffer(std::shared_ptr<Queue> queue, std::size_t bytes) : queue_(std::move(queue)), bytes_(bytes) {
    Gpu& gpu = queue_->gpu();
    const std::uint64_t most = gpu.facts().max_buffer_bytes;
    if (bytes > most)
      throw Error(
          fmt::format("metal: a buffer of {} bytes is more than this GPU's {}; use a smaller tensor", bytes, most));
    const std::size_t whole = (std::max<std::size_t>(bytes, 1) + kPage - 1) / kPage * kPage;
    const std::size_t size = whole <= most ? whole : bytes;
    memory_ = gpu.allocate(size);
    if (!memory_) {
      // Memory of launches that have ended comes back with them.
      queue_->wait();
      memory_ = gpu.allocate(size);
    }
    if (!memory_)
      throw Error(
          fmt::format("metal: no memory for a buffer of {} bytes; the system recommends {} bytes in all at most", bytes,
                      gpu.facts().working_set_bytes));
    if (reinterpret_cast<std::uintptr_t>(memory_->contents()) % kAlignment != 0)
      throw Error(fmt::format("metal: the memory of a buffer of {} bytes is not aligned to {}", bytes, kAlignment));
    std::memset(memory_->contents(), 0, bytes_);
  }
  std::size_t bytes() const override { return bytes_; }
  void write(const void* from, std::size_t bytes, std::size_t offset) override {
    check(bytes, offset);
    queue_->wait();
    if (bytes) std::memcpy(memory_->contents() + offset, from, bytes);
  }
  void read(void* to, std::size_t bytes, std::size_t offset) const override {
    check(bytes, offset);
    queue_->wait();
    if (bytes) std::memcpy(to, memory_->contents() + offset, bytes);
  }
  std::byte* host() override { return memory_->contents(); }
  const std::shared_ptr<GpuBuffer>& memory() const { return memory_; }

 private:
  void check(std::size_t bytes, std::size_t offset) const { check_buffer_range("metal", bytes, offset, bytes_); }
  std::shared_ptr<Queue> queue_;
  std::size_t bytes_;
  std::shared_ptr<GpuBuffer> memory_;
};

/// A command buffer runs once, so each run encodes the launches anew; the time is the GPU's alone.
class MetalRecording final : public Recording {
 public:
  MetalRecording(std::shared_ptr<Queue> queue, std::vector<Dispatch> launches)
      : queue_(std::move(queue)), launches_(std::move(launches)) {}
  double run() override {
    queue_->wait();
    return run_once(queue_->gpu(), launches_);
  }

 private:
  std::shared_ptr<Queue> queue_;
  std::vector<Dispatch> launches_;
};

class MetalDevice final : public Device {
 public:
  MetalDevice(std::shared_ptr<Gpu> gpu, std::size_t ceiling_bytes)
      : queue_(std::make_shared<Queue>(gpu)), pipelines_(gpu), ceiling_bytes_(ceiling_bytes) {
    const GpuFacts& f = gpu->facts();
    info_.backend = "metal";
    info_.name = f.name;
    info_.limits = limits_of(f);
    info_.details = f.details;
    info_.details["max_buffer_bytes"] = std::to_string(f.max_buffer_bytes);
    info_.details["working_set_bytes"] = std::to_string(f.working_set_bytes);
  }
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override { return std::make_unique<MetalBuffer>(queue_, bytes); }
  std::shared_ptr<Program> compile(const Kernel& kernel) override {
    return std::make_shared<MetalProgram>(kernel, pipelines_);
  }
  void launch(Program& program, const Arguments& arguments, const Groups& groups) override;
  void wait() override { queue_->wait(); }
  std::unique_ptr<Recording> record(const std::function<void()>& enqueue) override {
    queue_->begin_recording();
    try {
      enqueue();
    } catch (...) {
      queue_->take_recorded();
      throw;
    }
    return std::make_unique<MetalRecording>(queue_, queue_->take_recorded());
  }
  std::optional<Ceiling> measure_ceiling() override {
    queue_->wait();
    if (!roofs_) roofs_ = std::make_unique<Roofs>(queue_->gpu(), pipelines_, ceiling_bytes_);
    return roofs_->measure();
  }

 private:
  std::shared_ptr<Queue> queue_;
  PipelineCache pipelines_;
  std::size_t ceiling_bytes_;
  DeviceInfo info_;
  std::unique_ptr<Roofs> roofs_;
};

void MetalDevice::launch(Program& program, const Arguments& arguments, const Groups& groups) {
  for (const std::int64_t n : groups)
    if (n <= 0) return;
  const auto& p = static_cast<const MetalProgram&>(program);
  Dispatch dispatch = p.dispatch(arguments, groups);
  for (std::size_t n = 0; n < arguments.buffers.size(); ++n) {
    const BufferView& v = arguments.buffers[n];
    const std::string& name = p.slots()[n].name;
    if (!v.buffer) {
      dispatch.memories.emplace_back();
      continue;
    }
    // A pipeline takes any address; what the text reads at a time decides which are right.
    const std::size_t multiple = std::max(p.start_alignment(n), static_cast<std::size_t>(size_of(p.slots()[n].dtype)));
    if (v.offset % multiple != 0)
      throw Error(
          fmt::format("metal: [{}] the view of tensor {} starts at byte {} of its buffer, but this kernel reads or "
                      "writes {} bytes at a time; start it at a multiple of {}",
                      p.name(), name, v.offset, multiple, multiple));
    if (v.offset > v.buffer->bytes() || v.bytes > v.buffer->bytes() - v.offset)
      throw Error(fmt::format("metal: [{}] the view of tensor {} has {} bytes at {}, its buffer {}", p.name(), name,
                              v.bytes, v.offset, v.buffer->bytes()));
    dispatch.memories.push_back({static_cast<const MetalBuffer&>(*v.buffer).memory(), v.offset, v.bytes});
  }
  queue_->add(std::move(dispatch));
}

}  // namespace

Limits limits_of(const GpuFacts& facts) {
  if (facts.max_threads < kLeastThreads || facts.threadgroup_bytes == 0)
    throw Error(
        fmt::format("metal: {} allows {} threads and {} bytes of threadgroup memory; kernels need a simdgroup of "
                    "{} threads at least",
                    facts.name, facts.max_threads, facts.threadgroup_bytes, kLeastThreads));
  Limits l;
  l.max_threads = static_cast<int>(std::min<std::uint64_t>(facts.max_threads, std::numeric_limits<int>::max()));
  l.threadgroup_bytes = static_cast<std::int64_t>(
      std::min<std::uint64_t>(facts.threadgroup_bytes, std::numeric_limits<std::int64_t>::max()));
  // Metal names no limit of the grid but that positions are uints, which a launch checks with its own threads.
  return l;
}

std::unique_ptr<Device> make_device(std::shared_ptr<Gpu> gpu, std::size_t ceiling_bytes) {
  return std::make_unique<MetalDevice>(std::move(gpu), ceiling_bytes);
}

}  // namespace mt::metal
