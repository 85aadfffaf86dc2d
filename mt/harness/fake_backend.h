// A backend for tests: the host executes a function in place of any kernel.
#pragma once
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "backends/backend.h"

namespace mt {

class FakeBuffer final : public Buffer {
 public:
  explicit FakeBuffer(std::size_t bytes) : data_(bytes) {}
  std::size_t bytes() const override { return data_.size(); }
  void write(const void* from, std::size_t bytes, std::size_t offset) override {
    std::memcpy(data_.data() + offset, from, bytes);
  }
  void read(void* to, std::size_t bytes, std::size_t offset) const override {
    std::memcpy(to, data_.data() + offset, bytes);
  }
  std::byte* host() override { return data_.data(); }

 private:
  std::vector<std::byte> data_;
};

/// The elements of a bound tensor.
template <class T>
T* fake_data(const BufferView& view) {
  return reinterpret_cast<T*>(view.buffer->host() + view.offset);
}

class FakeProgram final : public Program {
 public:
  FakeProgram(int threads, std::size_t alignment) : threads_(threads), alignment_(alignment) {}
  int max_threads() const override { return threads_; }
  std::size_t start_alignment(std::size_t) const override { return alignment_; }

 private:
  int threads_;
  std::size_t alignment_;
};

class FakeDevice final : public Device {
 public:
  using Body = std::function<void(const Arguments&, const Groups&)>;
  FakeDevice(Body body, Limits limits, int program_threads, std::atomic<int>* compiled)
      : body_(std::move(body)), program_threads_(program_threads), compiled_(compiled) {
    info_.backend = "fake";
    info_.name = "host";
    info_.limits = limits;
  }
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    ++allocations;
    return std::make_unique<FakeBuffer>(bytes);
  }
  int allocations = 0;
  std::shared_ptr<Program> compile(const Kernel&) override {
    ++*compiled_;
    return std::make_shared<FakeProgram>(program_threads_, start_alignment);
  }
  void launch(Program&, const Arguments& arguments, const Groups& groups) override { body_(arguments, groups); }
  /// Records where `records` is set; a run takes a second by the device's clock for each launch.
  std::unique_ptr<Recording> record(const std::function<void()>& enqueue) override {
    if (!records) return nullptr;
    struct Kept final : Recording {
      double run() override {
        for (const auto& launch : launches) launch();
        return static_cast<double>(launches.size());
      }
      std::vector<std::function<void()>> launches;
    };
    auto kept = std::make_unique<Kept>();
    const Body body = body_;
    body_ = [&](const Arguments& arguments, const Groups& groups) {
      kept->launches.push_back([=] { body(arguments, groups); });
    };
    enqueue();
    body_ = body;
    return kept;
  }
  std::optional<Ceiling> measure_ceiling() override { return ceiling; }
  bool records = false;
  std::optional<Ceiling> ceiling;
  std::size_t start_alignment = 1;  // of the programs that are compiled from now on

 private:
  Body body_;
  DeviceInfo info_;
  int program_threads_;
  std::atomic<int>* compiled_;
};

class FakeBackend : public Backend {
 public:
  explicit FakeBackend(FakeDevice::Body body, Limits limits = {}, int program_threads = 1024)
      : body_(std::move(body)), limits_(limits), program_threads_(program_threads) {}
  std::string_view name() const override { return "fake"; }
  std::string_view description() const override { return "a function on the host"; }
  PipelineOptions pipeline() const override { return {}; }
  Result<std::unique_ptr<Device>> open(int = 0) const override {
    return std::unique_ptr<Device>(std::make_unique<FakeDevice>(body_, limits_, program_threads_, &compiled));
  }
  mutable std::atomic<int> compiled = 0;  // kernels, by devices that may work side by side

 private:
  FakeDevice::Body body_;
  Limits limits_;
  int program_threads_;
};

}  // namespace mt
