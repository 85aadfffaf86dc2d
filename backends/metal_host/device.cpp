#include "backends/metal_host/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include "backends/buffer_range.h"
#include "backends/clike/alignment.h"
#include "backends/metal/binding.h"
#include "backends/metal/text.h"
#include "backends/metal_host/guarded_memory.h"
#include "backends/metal_host/program.h"

namespace mt::metal_host {
namespace {

constexpr std::size_t kWidestAccess = 16;  // bytes

class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(std::size_t bytes) : memory_(bytes, GuardedMemory::Align::Begin) {}
  std::size_t bytes() const override { return memory_.bytes(); }
  void write(const void* from, std::size_t bytes, std::size_t offset) override {
    check(bytes, offset);
    if (bytes) std::memcpy(memory_.data() + offset, from, bytes);
  }
  void read(void* to, std::size_t bytes, std::size_t offset) const override {
    check(bytes, offset);
    if (bytes) std::memcpy(to, memory_.data() + offset, bytes);
  }
  std::byte* host() override { return memory_.data(); }

 private:
  void check(std::size_t bytes, std::size_t offset) const {
    check_buffer_range("metal-host", bytes, offset, memory_.bytes());
  }
  GuardedMemory memory_;
};

/// One kernel's Metal text, compiled as it is and, when a launch first calls for it, with checks.
class HostProgram final : public Program {
 public:
  HostProgram(const Kernel& kernel, bool check)
      : kernel_(kernel), slots_(metal::slots_of(kernel)), alignment_(clike::view_alignments(kernel, kWidestAccess)) {
    text_ = metal::metal_text({kernel}, &places_);
    const MslProgram& made = version(check);
    from_cache = made.object().from_cache;
    details["object_bytes"] = std::to_string(made.object().object.size());
  }
  std::size_t start_alignment(std::size_t n) const override { return alignment_[n]; }
  const Kernel& kernel() const { return kernel_; }
  const std::vector<metal::Slot>& slots() const { return slots_; }

  const MslProgram& version(bool check) {
    const std::lock_guard lock(mutex_);
    auto& made = made_[check];
    if (!made) {
      MslOptions options;
      options.check = check;
      // The text's functions are few and called often: inlined they cost more to compile than they save in a run.
      options.inline_functions = false;
      auto object = compile_msl(text_, kernel_.name + ".metal", options);
      if (!object) throw Error(fmt::format("metal-host: [{}] {}", kernel_.name, object.error().what()));
      made = std::make_unique<MslProgram>(object.take(), ConstantValues{});
    }
    return *made;
  }

  [[noreturn]] void fail(const MslProgram& program, const Fault& fault) const {
    const Place at = program.place(fault.at), other = program.place(fault.other);
    std::string what = fault.what;
    if (const auto hole = what.find(" {other}"); hole != std::string::npos)
      what.replace(hole, 8, other.line > 0 ? " at " + source(other) : "");
    const std::string place = source(at);
    throw Error(fmt::format("{}{}[{}] {}{}", place, place.empty() ? "" : ": ", kernel_.name, what, quote(at)));
  }

 private:
  /// The line of the kernel's C++ source, or else of the Metal text.
  std::string source(const Place& p) const {
    if (p.line <= 0) return "";
    const auto n = static_cast<std::size_t>(p.line - 1);
    if (n < places_.size() && places_[n].known()) return to_string(places_[n]);
    return fmt::format("{}:{}", p.file, p.line);
  }
  std::string quote(const Place& p) const {
    std::size_t begin = 0;
    for (int n = 1; n < p.line && begin != std::string::npos; ++n) {
      begin = text_.find('\n', begin);
      if (begin != std::string::npos) ++begin;
    }
    if (p.line <= 0 || begin == std::string::npos) return "";
    std::string line = text_.substr(begin, text_.find('\n', begin) - begin);
    line.erase(0, line.find_first_not_of(' '));
    if (const auto comment = line.find("  // "); comment != std::string::npos) line.erase(comment);
    return fmt::format(" (line {} of the Metal text: {})", p.line, line);
  }

  Kernel kernel_;
  std::vector<metal::Slot> slots_;
  std::vector<std::size_t> alignment_;
  std::string text_;
  std::vector<Loc> places_;  // by line of the text
  std::mutex mutex_;
  std::unique_ptr<MslProgram> made_[2];
};

class HostDevice final : public Device {
 public:
  HostDevice() {
    options_.workers = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    info_.backend = "metal-host";
    info_.name = "Metal text compiled for the host's cores";
    info_.limits = {.max_threads = static_cast<int>(kMaxThreads), .threadgroup_bytes = kMaxThreadgroupBytes};
    info_.details["compiler"] = msl_compiler();
    if (const std::string less = msl_less_strict(); !less.empty()) info_.details["less_strict"] = less;
  }
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override { return std::make_unique<HostBuffer>(bytes); }
  std::shared_ptr<Program> compile(const Kernel& kernel) override {
    const auto start = std::chrono::steady_clock::now();
    auto program = std::make_shared<HostProgram>(kernel, options_.check);
    program->compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return program;
  }
  void launch(Program& program, const Arguments& arguments, const Groups& groups) override;
  bool set_option(std::string_view name, std::int64_t value) override {
    return metal_host::set_option(options_, name, value);
  }

 private:
  DeviceInfo info_;
  Options options_;
};

void HostDevice::launch(Program& program, const Arguments& arguments, const Groups& groups) {
  auto& p = static_cast<HostProgram&>(program);
  const Kernel& k = p.kernel();
  for (const std::int64_t n : groups)
    if (n <= 0) return;
  const MslProgram& made = p.version(options_.check);
  Launch launch;
  launch.check = options_.check;
  launch.schedule = options_.schedule;
  launch.workers = options_.workers;
  launch.budget_seconds = options_.budget_seconds;
  const auto threads = static_cast<std::uint32_t>(k.threads);
  launch.threads = {threads, 1, 1};
  const auto grid = metal::grid_of("metal-host", k.name, groups, k.threads);
  launch.grid = {grid[0] * threads, grid[1], grid[2]};
  metal::check_arguments("metal-host", k.name, p.slots(), arguments);
  std::vector<std::uint64_t> scalars = arguments.scalars;
  for (const metal::Slot& s : p.slots()) {
    const int index = static_cast<int>(launch.buffers.size());
    const int bytes = size_of(s.dtype);
    if (s.scalar) {
      launch.buffers.push_back({index, reinterpret_cast<std::byte*>(&scalars[s.position]),
                                static_cast<std::size_t>(bytes), s.name, true, 1});
      continue;
    }
    const BufferView& v = arguments.buffers[s.position];
    launch.buffers.push_back(
        {index, v.buffer ? v.buffer->host() + v.offset : nullptr, v.bytes, s.name, s.read_only, std::min(bytes, 4)});
  }
  made.set_entry(made.kernel(k.name), launch);
  if (const auto fault = run_launch(launch)) p.fail(made, *fault);
}

}  // namespace

bool set_option(Options& options, std::string_view name, std::int64_t value) {
  if (name == "check" && (value == 0 || value == 1)) {
    options.check = value == 1;
  } else if (name == "schedule" && value >= 0) {
    options.schedule = {value == 0   ? Schedule::Forward
                        : value == 1 ? Schedule::Reverse
                                     : Schedule::Random,
                        static_cast<std::uint64_t>(value)};
  } else if (name == "threads" && value >= 1 && value <= 1024) {
    options.workers = static_cast<int>(value);
  } else if (name == "budget_ms" && value >= 1) {
    options.budget_seconds = static_cast<double>(value) / 1e3;
  } else {
    return false;
  }
  return true;
}

std::unique_ptr<Device> open_device() { return std::make_unique<HostDevice>(); }

}  // namespace mt::metal_host
