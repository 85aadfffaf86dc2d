#include "backends/cpu/device.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "backends/buffer_range.h"
#include "backends/cpu/compiler.h"
#include "backends/cpu/cpu_info.h"
#include "backends/cpu/emit.h"
#include "backends/cpu/workers.h"

namespace mt::cpu {
namespace {

constexpr std::size_t kHuge = 2u << 20;  // a large page
// Threadgroup memory is memory like any other: as much as stays in a second-level cache beside what passes by.
constexpr std::int64_t kThreadgroupBytes = std::int64_t{kThreadgroupKib} << 10;

/// Zero pages from the system, in large pages where it grants them.
class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(std::size_t bytes) : bytes_(bytes) {
    const std::size_t align = bytes >= 2 * kHuge ? kHuge : 4096;
    mapped_ = (bytes + 64 + align - 1) / align * align + align;
    void* m = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED) throw Error(fmt::format("cpu: no memory for a buffer of {} bytes", bytes));
    base_ = static_cast<std::byte*>(m);
    const auto at = reinterpret_cast<std::uintptr_t>(m);
    data_ = base_ + ((align - at % align) % align);
#ifdef MADV_HUGEPAGE
    if (align == kHuge) madvise(data_, mapped_ - kHuge, MADV_HUGEPAGE);
#endif
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  ~HostBuffer() override { munmap(base_, mapped_); }
  std::size_t bytes() const override { return bytes_; }
  void write(const void* from, std::size_t bytes, std::size_t offset) override {
    check(bytes, offset);
    std::memcpy(data_ + offset, from, bytes);
  }
  void read(void* to, std::size_t bytes, std::size_t offset) const override {
    check(bytes, offset);
    std::memcpy(to, data_ + offset, bytes);
  }
  std::byte* host() override { return data_; }

 private:
  void check(std::size_t bytes, std::size_t offset) const { check_buffer_range("cpu", bytes, offset, bytes_); }
  std::size_t bytes_, mapped_ = 0;
  std::byte *base_ = nullptr, *data_ = nullptr;
};

/// A kernel's code; a second version with stores past the caches is made when a launch first calls for it.
class CpuProgram final : public Program {
 public:
  explicit CpuProgram(const Kernel& kernel) : kernel_(kernel) {
    for (const Memory& m : kernel.memories)
      if (m.space == Space::Device) written_.push_back(m.access != Access::In);
    made_ = make(false);
  }
  struct Version {
    CompiledText text;
    std::size_t scratch_bytes = 0;
  };
  const Version& version(bool stream) {
    if (!stream) return made_;
    std::call_once(once_, [&] { streaming_ = make(true); });
    return streaming_;
  }
  /// Whether a launch writes more than stays in the caches anyway.
  bool streams(const Arguments& a, std::int64_t groups) const {
    const std::size_t cache = cpu_info().last_cache;
    std::size_t bytes = 0;
    for (std::size_t n = 0; n < a.buffers.size() && n < written_.size(); ++n)
      if (written_[n]) bytes += a.buffers[n].bytes;
    return cache > 0 && bytes >= cache && static_cast<std::size_t>(groups * kernel_.threads) >= cache / 256;
  }
  /// Bytes of the largest input that one threadgroup takes, so that each asks for what the next one reads; at least two
  /// pages, and no more than stays in the caches until then.
  std::int64_t ahead(const Arguments& a, std::int64_t groups) const {
    constexpr std::int64_t kLeast = 8 << 10, kMost = 64 << 10;
    std::int64_t bytes = 0;
    for (std::size_t n = 0; n < a.buffers.size() && n < written_.size(); ++n)
      if (!written_[n]) bytes = std::max(bytes, static_cast<std::int64_t>(a.buffers[n].bytes));
    const std::int64_t one = bytes / groups;
    return one > kMost ? kLeast : std::max(kLeast, one);
  }

 private:
  Version make(bool stream) const {
    EmitOptions options = cpu_info().emit;
    options.stream = stream;
    const Emitted e = emit(kernel_, options);
    return {compile_text(e.text, kernel_.name, object_cache()), e.scratch_bytes};
  }
  Kernel kernel_;
  std::vector<bool> written_;
  Version made_, streaming_;
  std::once_flag once_;
};

/// Memory for threadgroups' arrays, one a thread, kept for the next launch.
std::byte* scratch(std::size_t bytes) {
  struct Block {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    ~Block() { std::free(data); }
  };
  thread_local Block block;
  if (block.bytes < bytes) {
    std::free(block.data);
    block.bytes = (bytes + 4095) / 4096 * 4096;
    block.data = static_cast<std::byte*>(std::aligned_alloc(4096, block.bytes));
    if (!block.data) throw Error(fmt::format("cpu: no memory for {} bytes of threadgroup memory", bytes));
  }
  return block.data;
}

constexpr int kMostThreads = 1024;

int count_of_threads(const std::string& text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 1 || n > kMostThreads)
    throw Error(fmt::format("cpu: MT_THREADS is '{}'; give it a whole number from 1 to {}", text, kMostThreads));
  return n;
}

class CpuDevice final : public Device {
 public:
  CpuDevice() {
    const CpuInfo& c = cpu_info();
    info_.backend = "cpu";
    info_.name = c.name;
    info_.limits.threadgroup_bytes = kThreadgroupBytes;
    info_.details = c.details;
    info_.details["cache"] = object_cache().folder();
    threads_ = c.cores;
    if (const char* set = std::getenv("MT_THREADS"); set && *set) threads_ = count_of_threads(set);
    workers_ = std::make_unique<Workers>(threads_);
    info_.details["threads"] = std::to_string(threads_);
  }
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override { return std::make_unique<HostBuffer>(bytes); }
  std::shared_ptr<Program> compile(const Kernel& kernel) override;
  void launch(Program& program, const Arguments& arguments, const Groups& groups) override;
  bool set_option(std::string_view name, std::int64_t value) override {
    if (name == "stream" && value >= 0 && value <= 2) {
      stream_ = static_cast<int>(value);
      return true;
    }
    if (name == "last_groups" && value >= 0) {
      last_groups_ = value;
      return true;
    }
    if (name != "threads" || value < 1 || value > kMostThreads) return false;
    threads_ = static_cast<int>(value);
    workers_ = std::make_unique<Workers>(threads_);
    return true;
  }

 private:
  DeviceInfo info_;
  int threads_ = 1;
  int stream_ = 2;                // stores past the caches: 0 never, 1 always, 2 by size
  std::int64_t last_groups_ = 0;  // of each launch that are run; 0: all
  std::unique_ptr<Workers> workers_;
};

std::shared_ptr<Program> CpuDevice::compile(const Kernel& kernel) {
  const auto start = std::chrono::steady_clock::now();
  auto p = std::make_shared<CpuProgram>(kernel);
  const CpuProgram::Version& made = p->version(false);
  p->from_cache = made.text.from_cache;
  p->compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  p->details["object_bytes"] = std::to_string(made.text.object_bytes);
  p->details["scratch_bytes"] = std::to_string(made.scratch_bytes);
  p->details["isa"] = cpu_info().isa;
  return p;
}

void CpuDevice::launch(Program& program, const Arguments& arguments, const Groups& groups) {
  auto& p = static_cast<CpuProgram&>(program);
  std::vector<void*> buffers;
  for (const BufferView& v : arguments.buffers) buffers.push_back(v.buffer ? v.buffer->host() + v.offset : nullptr);
  const std::int64_t total = groups[0] * groups[1] * groups[2];
  if (total <= 0) return;
  const CpuProgram::Version& version = p.version(stream_ == 1 || (stream_ == 2 && p.streams(arguments, total)));
  const auto run = version.text.code->entry<EntryPoint>();
  const std::int64_t ahead = p.ahead(arguments, total);
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    run(buffers.data(), arguments.scalars.data(), begin, end, groups[0], groups[1], groups[2],
        scratch(version.scratch_bytes), ahead);
  };
  const std::int64_t first = last_groups_ > 0 ? std::max<std::int64_t>(0, total - last_groups_) : 0,
                     count = total - first;
  if (count == 1 || threads_ == 1) return part(first, total);
  // Many pieces a thread, so that a slow core does not hold up the rest.
  const std::int64_t piece = std::max<std::int64_t>(1, count / (threads_ * 32));
  workers_->run(count, piece, [&](std::int64_t begin, std::int64_t end) { part(first + begin, first + end); });
}

}  // namespace

std::unique_ptr<Device> open_device() { return std::make_unique<CpuDevice>(); }

}  // namespace mt::cpu
