#include "backends/interp/interp.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <new>

#include "backends/interp/machine.h"

namespace mt::interp {
namespace {

constexpr std::align_val_t kAlignment{256};

class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(std::size_t size) : size_(size) {
    data_ = static_cast<std::byte*>(::operator new(size ? size : 1, kAlignment, std::nothrow));
    if (!data_) throw Error(fmt::format("interp: no memory for a buffer of {} bytes; use a smaller problem", size));
    std::memset(data_, 0, size);
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  ~HostBuffer() override { ::operator delete(data_, kAlignment); }

  std::size_t bytes() const override { return size_; }
  void write(const void* from, std::size_t n, std::size_t offset) override {
    check(n, offset);
    if (n) std::memcpy(data_ + offset, from, n);
  }
  void read(void* to, std::size_t n, std::size_t offset) const override {
    check(n, offset);
    if (n) std::memcpy(to, data_ + offset, n);
  }
  std::byte* host() override { return data_; }

 private:
  std::size_t size_;
  std::byte* data_;

  void check(std::size_t n, std::size_t offset) const {
    if (offset > size_ || n > size_ - offset)
      throw Error(fmt::format("interp: {} bytes at {} are outside a buffer of {}", n, offset, size_));
  }
};

class InterpProgram final : public Program {
 public:
  explicit InterpProgram(const Kernel& kernel) { decode(kernel, code); }
  Code code;
};

class InterpDevice final : public Device {
 public:
  InterpDevice() { info_ = {.backend = "interp", .name = "reference interpreter", .limits = {}, .details = {}}; }
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override { return std::make_unique<HostBuffer>(bytes); }

  std::shared_ptr<Program> compile(const Kernel& kernel) override {
    const auto start = std::chrono::steady_clock::now();
    auto program = std::make_shared<InterpProgram>(kernel);
    program->compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return program;
  }

  void launch(Program& program, const Arguments& arguments, const Groups& groups) override {
    const Code& code = dynamic_cast<InterpProgram&>(program).code;
    check(code, arguments);
    for (const std::int64_t n : groups)
      if (n <= 0) return;
    Machine(code, options_, arguments, groups).launch();
  }

  bool set_option(std::string_view name, std::int64_t value) override {
    if (name == "threadgroup_kib" && value >= 1) {
      info_.limits.threadgroup_bytes = value * 1024;
      return true;
    }
    return interp::set_option(options_, name, value);
  }

 private:
  DeviceInfo info_;
  Options options_;

  static void check(const Code& code, const Arguments& arguments) {
    const Kernel& k = code.kernel;
    std::size_t device = 0;
    for (const Memory& memory : k.memories) device += memory.space == Space::Device;
    if (arguments.buffers.size() != device || arguments.scalars.size() != k.scalars.size())
      throw Error(fmt::format("[{}] takes {} buffers and {} scalars, not {} and {}", k.name, device, k.scalars.size(),
                              arguments.buffers.size(), arguments.scalars.size()));
    for (const BufferView& v : arguments.buffers)
      if (!v.buffer || v.offset > v.buffer->bytes() || v.bytes > v.buffer->bytes() - v.offset)
        throw Error(fmt::format("[{}] a view lies outside its buffer", k.name));
  }
};

class InterpBackend final : public Backend {
 public:
  std::string_view name() const override { return "interp"; }
  std::string_view description() const override {
    return "reference interpreter: lock step, checks bounds, races, barriers and uninitialised reads";
  }
  PipelineOptions pipeline() const override { return {}; }
  Result<std::unique_ptr<Device>> open(int index) const override {
    if (index != 0) return Error(fmt::format("interp has one device, number 0, not {}", index));
    return std::unique_ptr<Device>(std::make_unique<InterpDevice>());
  }
  int rank() const override { return 1; }
};

const InterpBackend backend;
[[maybe_unused]] const bool registered = register_backend(backend);

}  // namespace

bool set_option(Options& options, std::string_view name, std::int64_t value) {
  if (name == "nan_birth" && (value == 0 || value == 1)) {
    options.nan_birth = value == 1;
    return true;
  }
  if (name == "max_steps" && value >= 1) {
    options.max_steps = value;
    return true;
  }
  return false;
}

}  // namespace mt::interp
