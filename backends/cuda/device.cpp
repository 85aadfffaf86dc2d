#include "backends/cuda/device.h"

#include <fmt/format.h>

#include <array>

#include "backends/buffer_range.h"
#include "backends/cuda/compiler.h"
#include "backends/cuda/context.h"
#include "backends/cuda/program.h"
#include "backends/cuda/recording.h"
#include "backends/cuda/roofs.h"

namespace mt::cuda {
namespace {

class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(std::shared_ptr<Context> context, std::size_t bytes)
      : context_(std::move(context)), bytes_(bytes), address_(context_->allocate(bytes)) {
    context_->check(context_->use().memory_set(address_, 0, bytes_, context_->stream()), "zeroing a buffer");
  }
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;
  ~CudaBuffer() override { context_->free(address_, bytes_); }
  std::size_t bytes() const override { return bytes_; }
  void write(const void* from, std::size_t bytes, std::size_t offset) override {
    check(bytes, offset);
    if (bytes == 0) return;
    // From memory that is not pinned the driver has taken the bytes when the call returns.
    context_->check(context_->use().copy_in(address_ + offset, from, bytes, context_->stream()), "writing a buffer");
  }
  void read(void* to, std::size_t bytes, std::size_t offset) const override {
    check(bytes, offset);
    if (bytes == 0) return;
    context_->check(context_->use().copy_out(to, address_ + offset, bytes, context_->stream()), "reading a buffer");
    context_->wait("reading a buffer");
  }
  Address address() const { return address_; }
  const std::shared_ptr<Context>& context() const { return context_; }

 private:
  void check(std::size_t bytes, std::size_t offset) const { check_buffer_range("cuda", bytes, offset, bytes_); }
  std::shared_ptr<Context> context_;
  std::size_t bytes_;
  Address address_;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(const Driver& driver, int index) : driver_(driver), index_(index) {
    context_ = std::make_shared<Context>(driver_, index_);
    describe();
  }
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    return std::make_unique<CudaBuffer>(context(), std::max<std::size_t>(bytes, 1));
  }
  std::shared_ptr<Program> compile(const Kernel& kernel) override {
    return std::make_shared<CudaProgram>(kernel, arch_, context());
  }
  void launch(Program& program, const Arguments& arguments, const Groups& groups) override;
  void wait() override { context()->wait(); }
  std::unique_ptr<Recording> record(const std::function<void()>& enqueue) override {
    return cuda::record(context(), enqueue);
  }
  std::optional<Ceiling> measure_ceiling() override {
    if (!roofs_ || roofs_->context() != context()) roofs_ = std::make_unique<Roofs>(context(), arch_, processors_);
    return roofs_->measure();
  }

 private:
  /// A new context takes the place of one that an error has ended, where the driver still gives this process one;
  /// buffers of the old one stay lost.
  const std::shared_ptr<Context>& context() {
    if (!context_->ended()) return context_;
    roofs_.reset();
    try {
      context_ = std::make_shared<Context>(driver_, index_);
    } catch (const Error&) {
      throw Error(
          fmt::format("cuda: the driver takes no more work from this process; start again; {}", context_->why_ended()));
    }
    return context_;
  }
  void describe();

  const Driver& driver_;
  int index_, processors_ = 0;
  std::shared_ptr<Context> context_;
  std::string arch_;
  DeviceInfo info_;
  std::unique_ptr<Roofs> roofs_;
};

void CudaDevice::describe() {
  int device = 0;
  context_->check(driver_.device_get(&device, index_), "opening the device");
  const auto ask = [&](int attribute) {
    int value = 0;
    context_->check(driver_.device_attribute(&value, attribute, device), "asking the device for its limits");
    return value;
  };
  char name[256] = "";
  context_->check(driver_.device_name(name, sizeof name, device), "asking for the device's name");
  std::size_t memory = 0;
  context_->check(driver_.device_memory(&memory, device), "asking for the device's memory");
  const int major = ask(kMajor), minor = ask(kMinor);
  processors_ = ask(kProcessors);
  arch_ = arch_of(major, minor);
  info_.backend = "cuda";
  info_.name = name;
  info_.limits.max_threads = ask(kMaxThreads);
  info_.limits.threadgroup_bytes = ask(kMaxSharedBytes);
  info_.limits.max_groups = {ask(kMaxGroupsX), ask(kMaxGroupsY), ask(kMaxGroupsZ)};
  info_.cache_bytes = static_cast<std::size_t>(ask(kL2Bytes));
  info_.details = {
      {"index", fmt::format("{} of {}", index_, driver_.devices)},
      {"capability", fmt::format("{}.{}", major, minor)},
      {"arch", arch_},
      {"multiprocessors", std::to_string(processors_)},
      {"memory_bytes", std::to_string(memory)},
      {"l2_bytes", std::to_string(info_.cache_bytes)},
      {"clock_mhz", std::to_string(ask(kClockKhz) / 1000)},
      {"memory_clock_mhz", std::to_string(ask(kMemoryClockKhz) / 1000)},
      {"memory_bus_bits", std::to_string(ask(kMemoryBusBits))},
      {"driver", version_text(driver_.version)},
      {"compiler", compiler_identity()},
      {"cache", cubin_cache().folder()},
  };
}

void CudaDevice::launch(Program& program, const Arguments& arguments, const Groups& groups) {
  if (groups[0] <= 0 || groups[1] <= 0 || groups[2] <= 0) return;
  auto& p = static_cast<CudaProgram&>(program);
  std::vector<Address> addresses(arguments.buffers.size());
  std::vector<void*> values;
  for (std::size_t n = 0; n < arguments.buffers.size(); ++n) {
    const BufferView& v = arguments.buffers[n];
    if (v.buffer) {
      const auto& buffer = static_cast<const CudaBuffer&>(*v.buffer);
      if (buffer.context() != context())
        throw Error(fmt::format("cuda: [{}] tensor {} was lost with the context that an earlier error ended", p.name(),
                                p.memories()[n]));
      addresses[n] = buffer.address() + v.offset;
    }
    if (addresses[n] % p.start_alignment(n) != 0)
      throw Error(
          fmt::format("cuda: [{}] the view of tensor {} starts at byte {} of its buffer, but this kernel reads "
                      "or writes {} bytes at a time; start it at a multiple of {}",
                      p.name(), p.memories()[n], v.offset, p.start_alignment(n), p.start_alignment(n)));
    values.push_back(&addresses[n]);
  }
  for (const std::uint64_t& s : arguments.scalars) values.push_back(const_cast<std::uint64_t*>(&s));
  p.launch(context(), values, groups);
}

}  // namespace

std::string arch_of(int major, int minor) {
  // The instructions of one architecture alone (wgmma, setmaxnreg) come with the suffix.
  return fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
}

std::optional<std::string> first_arch() {
  const auto& d = driver();
  int device = 0, major = 0, minor = 0;
  if (!d || (*d)->devices < 1 || (*d)->device_get(&device, 0) != 0) return std::nullopt;
  if ((*d)->device_attribute(&major, kMajor, device) != 0 || (*d)->device_attribute(&minor, kMinor, device) != 0)
    return std::nullopt;
  return arch_of(major, minor);
}

std::string why_unavailable() {
  const auto& d = driver();
  if (!d) return d.error().what();
  if (compiler_identity().empty())
    return "cuda: there is a GPU but no compiler for its kernels; install NVRTC or nvcc of the CUDA toolkit, or name "
           "the "
           "library in MT_NVRTC";
  return "";
}

Result<std::unique_ptr<Device>> open_device(int index) {
  const auto& d = driver();
  if (!d) return d.error();
  if (index < 0 || index >= (*d)->devices)
    return Error(
        fmt::format("cuda: there is no device {}; {}", index,
                    (*d)->devices == 1 ? "the only one is 0" : fmt::format("they are 0 to {}", (*d)->devices - 1)));
  try {
    return std::unique_ptr<Device>(std::make_unique<CudaDevice>(**d, index));
  } catch (const Error& e) {
    return e;
  }
}

}  // namespace mt::cuda
