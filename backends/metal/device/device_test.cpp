// The device with everything but Metal itself: on a GPU that metal-host stands for, and on the Mac's own where it is.
#include "backends/metal/device/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/metal/device/roofs.h"
#include "backends/metal/device/testing/message.h"
#include "backends/metal/device/testing/text_gpu.h"
#include "mt/ir/text.h"

namespace mt::metal {
namespace {

/// y[i] = x[i] * by + plus, for 64 threads a threadgroup; `plus` a scalar of 64 bits between others.
Kernel scale() {
  return parse(R"(kernel @scale threads 64 {
  device in %x: f32 [n]
  device out %y: f32 [n]
  scalar %by: f32
  scalar %plus: u64
  scalar %last: u32

  %g: u32 = group_id 0
  %t: u32 = thread_id
  %by: f32 = param %by
  %plus: u64 = param %plus
  %last: u32 = param %last
  %width: u32 = const 64
  %0: u32 = mul %g, %width
  %at: u32 = add %0, %t
  %inside: bool = lt %at, %last
  if %inside {
    %1: f32 = load %x[%at]
    %2: f32 = mul %1, %by
    %3: f32 = cast %plus
    %4: f32 = add %2, %3
    store %y[%at], %4
  }
}
)")
      .take();
}

/// x[i] += 1.
Kernel count() {
  return parse(R"(kernel @count threads 32 {
  device inout %x: u32 [n]

  %t: u32 = thread_id
  %one: u32 = const 1
  %0: u32 = load %x[%t]
  %1: u32 = add %0, %one
  store %x[%t], %1
}
)")
      .take();
}

std::uint64_t bits(float x) {
  std::uint32_t b;
  std::memcpy(&b, &x, 4);
  return b;
}

std::vector<float> floats(Buffer& b, std::size_t n, std::size_t offset = 0) {
  std::vector<float> all(n);
  b.read(all.data(), n * 4, offset);
  return all;
}

class MetalDevices : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "stand_in") {
      const TextRunner* runner = testing::text_runner();
      if (!runner) GTEST_SKIP() << "nothing here runs Metal text";
      device_ = make_device(std::make_shared<testing::TextGpu>(*runner), 1 << 18);
    } else {
      auto gpu = open_gpu(0);
      if (!gpu) GTEST_SKIP() << gpu.error().what();
      device_ = make_device(gpu.take());
    }
  }
  std::unique_ptr<Device> device_;
};

TEST_P(MetalDevices, MemoryIsZeroAlignedAndTheHosts) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{1} << 20}) {
    const auto b = device_->allocate(bytes);
    EXPECT_EQ(b->bytes(), bytes);
    ASSERT_NE(b->host(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b->host()) % 256, 0u);
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(b->host()[i], std::byte{0}) << i;
    char c = 1;
    EXPECT_NE(message([&] { b->read(&c, 1, bytes); }), "");
    EXPECT_NE(message([&] { b->write(&c, bytes + 1, 0); }), "");
  }
}

TEST_P(MetalDevices, ArgumentsReachTheirSlots) {
  const auto program = device_->compile(scale());
  EXPECT_GE(program->max_threads(), 64);
  const auto x = device_->allocate(4096), y = device_->allocate(4096);
  std::vector<float> values(1024);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  x->write(values.data(), 4096);
  // Elements 64 and on of x, into elements 4 and on of y.
  device_->launch(*program, {{{x.get(), 256, 3840}, {y.get(), 16, 4080}}, {bits(0.5f), std::uint64_t{1} << 33, 190}},
                  {3, 1, 1});
  const std::vector<float> out = floats(*y, 1024);
  for (std::size_t i = 0; i < 1024; ++i)
    ASSERT_EQ(out[i], i >= 4 && i < 194 ? 0.5f * static_cast<float>(i - 4 + 64) + 0x1p33f : 0.0f) << i;
}

TEST_P(MetalDevices, LaunchesFollowEachOther) {
  const auto program = device_->compile(count());
  const auto x = device_->allocate(128);
  // More than one command buffer holds.
  for (int n = 0; n < 150; ++n) device_->launch(*program, {{{x.get(), 0, 128}}, {}}, {1, 1, 1});
  std::uint32_t first = 0;
  x->read(&first, 4);
  EXPECT_EQ(first, 150u);
  const std::uint32_t from = 1000;
  device_->launch(*program, {{{x.get(), 0, 128}}, {}}, {1, 1, 1});
  x->write(&from, 4);  // after that launch
  device_->launch(*program, {{{x.get(), 0, 128}}, {}}, {1, 1, 1});
  device_->wait();
  std::memcpy(&first, x->host(), 4);
  EXPECT_EQ(first, 1001u);
  // Nothing to do is no launch.
  device_->launch(*program, {{{x.get(), 0, 128}}, {}}, {0, 1, 1});
  x->read(&first, 4);
  EXPECT_EQ(first, 1001u);
}

TEST_P(MetalDevices, KernelsOfOneChainKeepTheirOwnArguments) {
  const auto scaled = device_->compile(scale()), counted = device_->compile(count());
  const auto x = device_->allocate(256), y = device_->allocate(256);
  const auto scales = [&](Buffer& from, Buffer& to, float by, std::uint64_t plus) {
    device_->launch(*scaled, {{{&from, 0, 256}, {&to, 0, 256}}, {bits(by), plus, 64}}, {1, 1, 1});
  };
  scales(*x, *y, 1, 3);  // y = 3
  // Elements 1 to 32 become the next numbers.
  device_->launch(*counted, {{{y.get(), 4, 128}}, {}}, {1, 1, 1});
  scales(*y, *x, 2, 0);  // x = 2 y
  const std::vector<float> out = floats(*x, 64);
  for (std::size_t i = 0; i < 64; ++i)
    ASSERT_EQ(out[i], i >= 1 && i <= 32 ? 2 * std::nextafter(3.0f, 4.0f) : 6.0f) << i;
}

TEST_P(MetalDevices, RecordingsRunAgain) {
  const auto program = device_->compile(count());
  const auto x = device_->allocate(128);
  const auto launch = [&] { device_->launch(*program, {{{x.get(), 0, 128}}, {}}, {1, 1, 1}); };
  const auto value = [&] {
    std::uint32_t v = 0;
    x->read(&v, 4);
    return v;
  };
  const auto recording = device_->record([&] {
    launch();
    launch();
  });
  ASSERT_TRUE(recording);
  EXPECT_EQ(value(), 0u);
  EXPECT_GT(recording->run(), 0);
  EXPECT_EQ(value(), 2u);
  launch();
  EXPECT_GT(recording->run(), 0);
  EXPECT_EQ(value(), 5u);
  EXPECT_EQ(message([&] {
              device_->record([&] {
                launch();
                throw Error("stop");
              });
            }),
            "stop");
  launch();
  EXPECT_EQ(value(), 6u);
  EXPECT_NE(message([&] { device_->record([&] { device_->record([] {}); }); }), "");
  launch();
  EXPECT_EQ(value(), 7u);
}

TEST_P(MetalDevices, CeilingsAreMeasured) {
  const auto c = device_->measure_ceiling();
  ASSERT_TRUE(c);
  for (const double rate : {c->copy, c->read, c->write, c->flops, c->launch}) {
    EXPECT_TRUE(std::isfinite(rate));
    EXPECT_GT(rate, 0);
  }
}

TEST_P(MetalDevices, KernelsThatWereCompiledAreKept) {
  EXPECT_FALSE(device_->compile(count())->from_cache);
  EXPECT_TRUE(device_->compile(count())->from_cache);
  EXPECT_FALSE(device_->compile(scale())->from_cache);
}

INSTANTIATE_TEST_SUITE_P(On, MetalDevices, ::testing::Values("stand_in", "gpu"),
                         [](const auto& one) { return std::string(one.param); });

/// A device over a GPU that runs nothing.
struct Noted {
  std::shared_ptr<testing::NotingGpu> gpu = std::make_shared<testing::NotingGpu>();
  std::unique_ptr<Device> device = make_device(gpu);
};

TEST(MetalDevice, ChainsLaunchesInFewCommandBuffers) {
  Noted n;
  const auto program = n.device->compile(count());
  const auto x = n.device->allocate(128);
  const auto launch = [&] { n.device->launch(*program, {{{x.get(), 0, 128}}, {}}, {7, 1, 1}); };
  for (int i = 0; i < 3; ++i) launch();
  EXPECT_EQ(n.gpu->committed.size(), 0u);
  n.device->wait();
  ASSERT_EQ(n.gpu->committed.size(), 1u);
  ASSERT_EQ(n.gpu->committed[0].size(), 3u);
  const Dispatch& d = n.gpu->committed[0][0];
  EXPECT_EQ(d.groups, (std::array<std::uint32_t, 3>{7, 1, 1}));
  EXPECT_EQ(d.threads, 32u);
  n.device->wait();
  EXPECT_EQ(n.gpu->committed.size(), 1u);
  for (int i = 0; i < 64 * 20; ++i) launch();
  EXPECT_EQ(n.gpu->committed.size(), 21u);
  // The host does not run ahead of the GPU without end.
  EXPECT_EQ(n.gpu->waited, 1 + 12);
}

TEST(MetalDevice, FailuresNameTheLaunches) {
  Noted n;
  const auto program = n.device->compile(count()), other = n.device->compile(scale());
  const auto x = n.device->allocate(128);
  const auto launch = [&] { n.device->launch(*program, {{{x.get(), 0, 128}}, {}}, {7, 2, 1}); };
  n.gpu->fails_at = 0;
  launch();
  EXPECT_EQ(message([&] { n.device->wait(); }),
            "metal: it broke; launched was [count] on 7x2x1 threadgroups of 32 threads");
  n.device->wait();  // is told once
  n.gpu->fails_at = 1;
  launch();
  n.device->launch(*other, {{{x.get(), 0, 128}, {x.get(), 0, 128}}, {0, 0, 0}}, {1, 1, 1});
  char c;
  EXPECT_EQ(message([&] { x->read(&c, 1); }),
            "metal: it broke; launched were, the last of them: [count] on 7x2x1 threadgroups of 32 threads, [scale] on "
            "1x1x1 threadgroups of 64 threads");
  // The first of several command buffers fails, long before anybody waits.
  n.gpu->fails_at = 2;
  for (int i = 0; i < 64 * 20; ++i) launch();
  EXPECT_NE(message([&] { n.device->wait(); }), "");
  n.gpu->fails_at = static_cast<int>(n.gpu->committed.size());
  const auto recording = n.device->record(launch);
  EXPECT_NE(message([&] { recording->run(); }).find("[count] on 7x2x1"), std::string::npos);
  EXPECT_EQ(recording->run(), 0.25);
}

TEST(MetalDevice, RefusesWhatMetalWouldEndTheProcessFor) {
  Noted n;
  const auto program = n.device->compile(count());
  const auto x = n.device->allocate(128);
  const auto refused = [&](const Arguments& a, const Groups& g) {
    return message([&] { n.device->launch(*program, a, g); });
  };
  EXPECT_EQ(refused({{{x.get(), 0, 128}}, {}}, {1, 1, 1}), "");
  EXPECT_EQ(refused({{}, {}}, {1, 1, 1}), "metal: [count] x is not bound");
  EXPECT_EQ(refused({{{x.get(), 0, 128}}, {1}}, {1, 1, 1}), "metal: [count] takes 0 scalars, not 1");
  EXPECT_EQ(refused({{{x.get(), 0, 128}, {x.get(), 0, 128}}, {}}, {1, 1, 1}), "metal: [count] takes 1 tensors, not 2");
  EXPECT_EQ(
      refused({{{x.get(), 2, 100}}, {}}, {1, 1, 1}),
      "metal: [count] the view of tensor x starts at byte 2 of its buffer, but this kernel reads or writes 4 bytes "
      "at a time; start it at a multiple of 4");
  EXPECT_EQ(refused({{{x.get(), 4, 128}}, {}}, {1, 1, 1}),
            "metal: [count] the view of tensor x has 128 bytes at 4, its buffer 128");
  EXPECT_EQ(refused({{{x.get(), 0, 128}}, {}}, {1ll << 28, 1, 1}),
            "metal: [count] 268435456 x 1 x 1 threadgroups of 32 threads are more than 2^32 - 1 threads along an axis");
  n.gpu->pipeline_threads = 32;
  const auto wide = n.device->compile(scale());
  EXPECT_EQ(wide->max_threads(), 32);
  EXPECT_NE(message([&] {
              n.device->launch(*wide, {{{x.get(), 0, 128}, {x.get(), 0, 128}}, {0, 0, 0}}, {1, 1, 1});
            }).find("a threadgroup has 64 threads, but as compiled for this GPU it may have 32"),
            std::string::npos);
  n.device->wait();
  EXPECT_EQ(n.gpu->committed.size(), 1u);
}

TEST(MetalDevice, CompilingNamesTheKernel) {
  Noted n;
  n.gpu->compile_error = "count.metal:3:1: error: no";
  EXPECT_EQ(message([&] { n.device->compile(count()); }), "metal: [count] count.metal:3:1: error: no");
  n.gpu->compile_error = "";
  n.gpu->simd_width = 64;
  EXPECT_EQ(
      message([&] { n.device->compile(count()); }),
      "metal: [count] a simdgroup of this GPU has 64 threads, but kernels are written for 32; it takes another GPU, "
      "any of Apple's has 32");
}

TEST(MetalDevice, MemoryHasItsLimits) {
  Noted n;
  EXPECT_EQ(message([&] { n.device->allocate((1 << 20) + 1); }),
            "metal: a buffer of 1048577 bytes is more than this GPU's 1048576; use a smaller tensor");
  EXPECT_TRUE(n.device->allocate(1 << 20));
  const auto program = n.device->compile(count());
  {
    const auto x = n.device->allocate(128);
    n.device->launch(*program, {{{x.get(), 0, 128}}, {}}, {1, 1, 1});
  }
  n.gpu->allocations_left = 0;
  EXPECT_EQ(message([&] { n.device->allocate(64); }),
            "metal: no memory for a buffer of 64 bytes; the system recommends 4194304 bytes in all at most");
  EXPECT_EQ(n.gpu->waited, 1) << "what was under way may give memory back";
}

TEST(MetalDevice, LimitsAreTheGpus) {
  GpuFacts f{"g", {}, 512, 16384, 1 << 20, 1 << 20};
  EXPECT_EQ(limits_of(f).max_threads, 512);
  EXPECT_EQ(limits_of(f).threadgroup_bytes, 16384);
  f.max_threads = std::uint64_t{1} << 40;
  EXPECT_EQ(limits_of(f).max_threads, std::numeric_limits<int>::max());
  f.max_threads = 16;
  EXPECT_NE(message([&] { limits_of(f); }), "");
  Noted n;
  EXPECT_EQ(n.device->info().backend, "metal");
  EXPECT_EQ(n.device->info().limits.max_threads, 1024);
  EXPECT_EQ(n.device->info().details.at("max_buffer_bytes"), "1048576");
}

/// `to` after a kernel of the roofs has run on 64 KiB each way, checked.
std::vector<std::uint32_t> roof(const char* kernel, std::uint32_t groups, std::vector<std::uint32_t> from) {
  std::vector<std::uint32_t> to(from.size());
  TextLaunch l;
  l.kernel = kernel;
  l.grid = {groups * 256, 1, 1};
  l.threads = {256, 1, 1};
  l.check = true;
  l.buffers = {{0, reinterpret_cast<std::byte*>(from.data()), from.size() * 4, {}},
               {1, reinterpret_cast<std::byte*>(to.data()), to.size() * 4, {}}};
  testing::text_runner()->run(roofs_text(), "roofs.metal", {}, l);
  return to;
}

TEST(MetalDevice, RoofsMoveWhatTheyClaim) {
  const TextRunner* runner = testing::text_runner();
  if (!runner) GTEST_SKIP() << "nothing here runs Metal text";
  EXPECT_EQ(runner->contents(roofs_text(), "roofs.metal", {}).warnings, "");
  constexpr std::uint32_t kWords = 16384;
  std::vector<std::uint32_t> from(kWords);
  for (std::uint32_t i = 0; i < kWords; ++i) from[i] = i + 7;
  EXPECT_EQ(roof("roof_copy", kWords / 1024, from), from);
  const auto written = roof("roof_write", kWords / 1024, from);
  for (std::uint32_t i = 0; i < kWords; ++i) ASSERT_EQ(written[i], i % 4 + 1) << i;
  // Nothing is read in vain: the sum over a thread's four vectors decides whether it writes.
  for (const std::uint32_t word : {0u, 1024u + 1, 2048u + 2, 3072u + 3, kWords - 1}) {
    std::fill(from.begin(), from.end(), 0u);
    from[word] = 0x5eed5eedu;
    const auto read = roof("roof_read", kWords / 4096, from);
    EXPECT_EQ(read[word % 1024], 0x5eed5eedu) << word;
  }
}

}  // namespace
}  // namespace mt::metal
