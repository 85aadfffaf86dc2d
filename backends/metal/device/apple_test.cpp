// What only a Mac compiles for use, run over metal-cpp's own headers and a stand-in for the system behind them: every
// message, what it is sent to, and how long objects live.
#include <gtest/gtest.h>

#include "backends/metal/device/device.h"
#include "backends/metal/device/testing/fake_metal.h"
#include "backends/metal/device/testing/message.h"
#include "backends/metal/device/testing/objc_runtime.h"
#include "mt/ir/text.h"

namespace mt::metal {
namespace {

Kernel count() {
  return parse(R"(kernel @count threads 32 {
  device inout %x: u32 [n]
  scalar %by: u32

  %t: u32 = thread_id
  %by: u32 = param %by
  %0: u32 = load %x[%t]
  %1: u32 = add %0, %by
  store %x[%t], %1
}
)")
      .take();
}

class AppleGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!MT_APPLE_SIDE)
      GTEST_SKIP() << "THE METAL DEVICE'S CALLS WERE NOT RUN: they need metal-cpp (tools/setup.sh "
                      "--dev fetches it), clang and an x86-64 Linux";
    objc::machine() = {};
    live_ = objc::live_objects();
  }
  void TearDown() override {
    const int left = MT_APPLE_SIDE ? objc::live_objects() - live_ : 0;
    EXPECT_EQ(left, 0) << "objects that nobody released";
    objc::machine() = {};
  }
  static std::unique_ptr<Device> open() { return make_device(open_gpu(0).take(), 1 << 18); }
  int live_ = 0;
};

TEST_F(AppleGpu, FactsAreReadFromTheDevice) {
  EXPECT_EQ(why_no_gpu(), "");
  const auto device = open();
  const DeviceInfo& info = device->info();
  EXPECT_EQ(info.name, "Fake M9");
  EXPECT_EQ(info.limits.max_threads, 1024);
  EXPECT_EQ(info.limits.threadgroup_bytes, 32768);
  EXPECT_EQ(info.details.at("architecture"), "applegpu_fake");
  EXPECT_EQ(info.details.at("family"), "Apple 8");
  EXPECT_EQ(info.details.at("unified_memory"), "yes");
  EXPECT_EQ(info.details.at("system"), "Version 15.1");
  EXPECT_EQ(info.details.at("max_buffer_bytes"), "268435456");
  EXPECT_FALSE(open_gpu(1));
}

TEST_F(AppleGpu, LaunchesRunAndNothingIsLeft) {
  const auto device = open();
  const auto program = device->compile(count());
  EXPECT_EQ(program->max_threads(), 1024);
  EXPECT_EQ(program->details.at("threadgroup_bytes"), "16");
  EXPECT_EQ(objc::machine().options, (std::vector<std::string>{"language 196609", "maths 0", "functions 1"}));
  auto x = device->allocate(128);
  const auto launch = [&] { device->launch(*program, {{{x.get(), 0, 128}}, {3}}, {1, 1, 1}); };
  for (int n = 0; n < 70; ++n) launch();
  std::uint32_t first = 1;
  x->read(&first, 4);
  if (find_backend("metal-host")->unavailable().empty()) {
    EXPECT_EQ(first, 210u);
  }
  EXPECT_EQ(objc::machine().dispatches, 70);
  EXPECT_EQ(objc::machine().command_buffers, 2);
  EXPECT_EQ(objc::machine().signposts.front(), "[count] on 1x1x1 threadgroups of 32 threads");
  const auto recording = device->record(launch);
  EXPECT_GE(recording->run(), 0);
  EXPECT_EQ(objc::machine().command_buffers, 3);
  // A buffer may go while a launch that uses it is under way, and so may the device.
  launch();
  x.reset();
}

TEST_F(AppleGpu, NothingBoundIsAnEmptyBuffer) {
  const auto device = open();
  const auto gpu = open_gpu(0).take();
  const auto program = device->compile(count());
  const auto commands = gpu->commands();
  Dispatch d;
  d.pipeline = gpu->compile("kernel void k(device uint* x [[buffer(0)]]) {}", "k");
  d.memories.emplace_back();
  commands->encode(d);
  commands->commit();
  EXPECT_EQ(commands->wait().error, "");
  // Commands that nobody commits end their encoder.
  gpu->commands()->encode(d);
}

TEST_F(AppleGpu, FailuresAreToldInMetalsWords) {
  const auto device = open();
  const auto program = device->compile(count());
  const auto x = device->allocate(128);
  const auto launch = [&] { device->launch(*program, {{{x.get(), 0, 128}}, {1}}, {1, 1, 1}); };
  const std::string launched = "; launched was [count] on 1x1x1 threadgroups of 32 threads";
  objc::machine().error_code = 3;
  objc::machine().error_message = "Caused GPU Address Fault Error";
  objc::machine().encoder_state = 4;
  launch();
  EXPECT_EQ(
      message([&] { device->wait(); }),
      "metal: a launch failed, page fault: a kernel touched memory that is not bound; `tile check` names the access "
      "(Caused GPU Address Fault Error); the launches are faulted" +
          launched);
  launch();
  EXPECT_EQ(message([&] { device->wait(); }), "");
  // Shader validation lets the command buffer end well.
  objc::machine().logs = {"invalid load", "nowhere: invalid store"};
  launch();
  EXPECT_EQ(message([&] { device->wait(); }),
            "metal: a launch failed, none: the system gave no reason; shader validation says: count:12: invalid load; "
            "nowhere: invalid store" +
                launched);
}

TEST_F(AppleGpu, WhatDoesNotCompileIsNamed) {
  const auto device = open();
  const auto gpu = open_gpu(0).take();
  EXPECT_EQ(message([&] { gpu->compile("kernel void other() {}", "k"); }), "the text has no kernel of that name");
  if (find_backend("metal-host")->unavailable().empty()) {
    const std::string refused = message([&] { gpu->compile("kernel void k() { return 1 }", "k"); });
    EXPECT_TRUE(refused.starts_with("k.metal:1")) << refused;
  }
  objc::machine().pipeline_fails = true;
  EXPECT_EQ(message([&] { device->compile(count()); }), "metal: [count] no pipeline: too many registers");
  objc::machine().pipeline_fails = false;
  objc::machine().simd_width = 16;
  EXPECT_NE(message([&] { device->compile(count()); }).find("a simdgroup of this GPU has 16 threads"),
            std::string::npos);
}

TEST_F(AppleGpu, OlderSystemsAreAskedInTheirWords) {
  objc::machine().system = 14;
  open()->compile(count());
  EXPECT_EQ(objc::machine().options, (std::vector<std::string>{"language 196609", "not fast"}));
}

TEST_F(AppleGpu, MemoryEndsWithASentence) {
  const auto device = open();
  objc::machine().buffers_left = 0;
  EXPECT_NE(message([&] { device->allocate(64); }).find("no memory for a buffer of 64 bytes"), std::string::npos);
  EXPECT_NE(message([&] { open_gpu(0).take(); }).find("no memory left"), std::string::npos);
}

TEST_F(AppleGpu, AMachineWithoutAGpuSaysSo) {
  objc::machine().has_gpu = false;
  EXPECT_NE(why_no_gpu().find("the system offers no GPU to this process"), std::string::npos);
  EXPECT_FALSE(open_gpu(0));
  objc::machine() = {};
  objc::machine().system = 13;
  EXPECT_EQ(why_no_gpu(), "metal: this is macOS 13; kernels need Metal 3.1, which came with macOS 14");
}

}  // namespace
}  // namespace mt::metal
