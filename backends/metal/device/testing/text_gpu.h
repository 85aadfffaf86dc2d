// GPUs for tests: one that runs the text on the host's cores, when it is waited for and not before, and one that only
// notes what it is asked.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/metal/device/gpu.h"
#include "backends/text_runner.h"

namespace mt::metal::testing {

class HostBuffer final : public GpuBuffer {
 public:
  explicit HostBuffer(std::size_t bytes)
      : bytes_(static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256)), &std::free) {
    std::memset(bytes_.get(), 0xa5, bytes);  // a fresh buffer holds anything
  }
  std::byte* contents() override { return bytes_.get(); }

 private:
  std::unique_ptr<std::byte, decltype(&std::free)> bytes_;
};

/// A backend that runs Metal text here, or null.
inline const TextRunner* text_runner() {
  for (const Backend* b : backends())
    if (const TextRunner* r = b->text_runner(); r && r->unavailable().empty()) return r;
  return nullptr;
}

struct TextPipeline final : GpuPipeline {
  std::string text, kernel;
};

class TextCommands final : public GpuCommands {
 public:
  explicit TextCommands(const TextRunner& runner) : runner_(runner) {}
  void encode(const Dispatch& d) override {
    if (committed_) ADD_FAILURE() << "encoded after the commit";
    all_.push_back(d);
  }
  void commit() override { committed_ = true; }
  Outcome wait() override {
    if (!committed_) ADD_FAILURE() << "waited for what was not committed";
    Outcome outcome;
    for (const Dispatch& d : all_) {
      const auto& p = static_cast<const TextPipeline&>(*d.pipeline);
      TextLaunch launch;
      launch.kernel = p.kernel;
      launch.grid = {d.groups[0] * d.threads, d.groups[1], d.groups[2]};
      launch.threads = {d.threads, 1, 1};
      int index = 0;
      for (const Dispatch::Memory& m : d.memories)
        launch.buffers.push_back({index++, m.buffer ? m.buffer->contents() + m.offset : nullptr, m.bytes, {}});
      std::vector<Dispatch::Scalar> scalars = d.scalars;
      for (Dispatch::Scalar& s : scalars)
        launch.buffers.push_back({index++, reinterpret_cast<std::byte*>(&s.bits), s.bytes, {}});
      try {
        TextOptions options;
        options.kernels = {p.kernel};
        outcome.seconds += runner_.run(p.text, p.kernel + ".metal", options, launch).seconds;
      } catch (const Error& e) {
        outcome.error = e.what();
        break;
      }
    }
    return outcome;
  }

 private:
  const TextRunner& runner_;
  std::vector<Dispatch> all_;
  bool committed_ = false;
};

class TextGpu final : public Gpu {
 public:
  explicit TextGpu(const TextRunner& runner) : runner_(runner) {
    facts_ = {"host", {{"system", "a stand-in"}}, 1024, 32 << 10, 1 << 28, 1 << 30};
  }
  const GpuFacts& facts() const override { return facts_; }
  std::shared_ptr<GpuBuffer> allocate(std::size_t bytes) override { return std::make_shared<HostBuffer>(bytes); }
  std::shared_ptr<GpuPipeline> compile(const std::string& text, const std::string& kernel) override {
    const TextContents contents = runner_.contents(text, kernel + ".metal", {});
    for (const TextKernel& k : contents.kernels) {
      if (k.name != kernel) continue;
      auto made = std::make_shared<TextPipeline>();
      made->max_threads = k.max_threads > 0 ? static_cast<std::uint64_t>(k.max_threads) : 1024;
      made->simd_width = 32;
      made->text = text;
      made->kernel = kernel;
      return made;
    }
    throw Error("the text has no kernel " + kernel);
  }
  std::unique_ptr<GpuCommands> commands() override { return std::make_unique<TextCommands>(runner_); }

 private:
  const TextRunner& runner_;
  GpuFacts facts_;
};

/// Runs nothing: tests say what comes of it.
class NotingGpu final : public Gpu {
 public:
  GpuFacts given{"noting", {}, 1024, 32 << 10, 1 << 20, 1 << 22};
  std::uint64_t simd_width = 32, pipeline_threads = 1024;
  int allocations_left = 1 << 30;                // before there is no memory
  std::string compile_error;                     // of every text
  int fails_at = -1;                             // the command buffer that fails
  std::vector<std::vector<Dispatch>> committed;  // by command buffer
  int waited = 0, compiled = 0;

  const GpuFacts& facts() const override { return given; }
  std::shared_ptr<GpuBuffer> allocate(std::size_t bytes) override {
    return allocations_left-- > 0 ? std::make_shared<HostBuffer>(bytes) : nullptr;
  }
  std::shared_ptr<GpuPipeline> compile(const std::string&, const std::string&) override {
    if (!compile_error.empty()) throw Error(compile_error);
    ++compiled;
    auto made = std::make_shared<GpuPipeline>();
    made->max_threads = pipeline_threads;
    made->simd_width = simd_width;
    return made;
  }
  std::unique_ptr<GpuCommands> commands() override {
    class Commands final : public GpuCommands {
     public:
      explicit Commands(NotingGpu& gpu) : gpu_(gpu) {}
      void encode(const Dispatch& d) override { all_.push_back(d); }
      void commit() override {
        number_ = static_cast<int>(gpu_.committed.size());
        gpu_.committed.push_back(all_);
      }
      Outcome wait() override {
        EXPECT_GE(number_, 0) << "waited for what was not committed";
        ++gpu_.waited;
        return {number_ == gpu_.fails_at ? "it broke" : "", 0.25};
      }

     private:
      NotingGpu& gpu_;
      std::vector<Dispatch> all_;
      int number_ = -1;
    };
    return std::make_unique<Commands>(*this);
  }
};

}  // namespace mt::metal::testing
