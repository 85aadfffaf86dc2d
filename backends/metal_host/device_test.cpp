// Kernels as the harness runs them: printed by the metal backend, compiled by clang 19, launched.
#include "backends/metal_host/device.h"

#include <gtest/gtest.h>

#include <cstring>

#include "backends/backend.h"
#include "backends/metal_host/compiler.h"
#include "mt/ir/text.h"

namespace mt::metal_host {
namespace {

const Backend& backend() { return *find_backend("metal-host"); }

TEST(MetalText, IsCheckedByTheCompilerThatIsHere) {
  if (const std::string why = backend().unavailable(); !why.empty()) GTEST_SKIP() << why;
  const Backend& metal = *find_backend("metal");
  const std::string head =
      "#include <metal_stdlib>\nusing namespace metal;\nkernel void k(device float* x [[buffer(0)]]) {\n";
  EXPECT_EQ(metal.check_artefact({"metal", head + "  x[0] = exp(x[1]);\n}\n"}), "");
  const auto broken = metal.check_artefact({"metal", head + "  x[0] = undeclared;\n}\n"});
  ASSERT_TRUE(broken);
  EXPECT_NE(broken->find("text.metal:4: error: use of undeclared identifier 'undeclared'"), std::string::npos)
      << *broken;
}

class MetalHost : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = backend().unavailable(); !why.empty()) GTEST_SKIP() << why;
    device_ = backend().open().take();
  }
  /// Fills `x` with 0, 1, ..., launches over `groups` and gives `out`; an Error's sentence instead where there is one.
  std::string run(const Kernel& k, std::int64_t groups, std::size_t bytes_of_x, std::vector<float>* result = nullptr) {
    try {
      auto program = device_->compile(k);
      auto x = device_->allocate(4096), out = device_->allocate(4096);
      std::vector<float> values(1024);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
      x->write(values.data(), 4096);
      const float by = 0.5f;
      std::uint32_t bits;
      std::memcpy(&bits, &by, 4);
      device_->launch(*program, {{{x.get(), 0, bytes_of_x}, {out.get(), 0, 4096}}, {bits}}, {groups, 1, 1});
      device_->wait();
      if (result) {
        result->resize(1024);
        out->read(result->data(), 4096);
      }
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  }
  std::unique_ptr<Device> device_;
};

/// Reverses each block of 64 through threadgroup memory; `barrier` between. The load is at line 20 of its source, the
/// other side of the exchange at line 40.
Kernel reverse(bool barrier) {
  Kernel k = parse(std::string(R"(kernel @reverse threads 64 {
  device in %x: f32 [n]
  device out %y: f32 [n]
  scalar %by: f32
  threadgroup %tile: f32 [64]

  %g: u32 = group_id 0
  %t: u32 = thread_id
  %by: f32 = param %by
  %width: u32 = const 64
  %last: u32 = const 63
  %0: u32 = mul %g, %width
  %at: u32 = add %0, %t
  %1: f32 = load %x[%at]
  %2: f32 = mul %1, %by
  store %tile[%t], %2
)") + (barrier ? "  barrier\n" : "") +
                   R"(
  %3: u32 = sub %last, %t
  %4: f32 = load %tile[%3]
  store %y[%at], %4
}
)")
                 .take();
  bool stored = false;
  for (Inst& i : k.insts) {
    if (i.op == Op::Load) i.loc = Loc("folder/reverse.h", stored ? 40 : 20);
    if (i.op == Op::Store) {
      i.loc = Loc("folder/reverse.h", stored ? 41 : 21);
      stored = true;
    }
  }
  return k;
}

TEST_F(MetalHost, RunsTheTextInEveryOrder) {
  for (const int check : {0, 1})
    for (const int schedule : {0, 1, 2, 77}) {
      ASSERT_TRUE(device_->set_option("check", check));
      ASSERT_TRUE(device_->set_option("schedule", schedule));
      std::vector<float> out;
      ASSERT_EQ(run(reverse(true), 16, 4096, &out), "");
      for (std::size_t i = 0; i < 1024; ++i)
        ASSERT_EQ(out[i], 0.5f * static_cast<float>(i / 64 * 64 + 63 - i % 64)) << i;
    }
}

TEST_F(MetalHost, ReportsNameTheKernelsSource) {
  ASSERT_TRUE(device_->set_option("check", 1));
  const std::string bounds = run(reverse(true), 16, 4000);
  EXPECT_TRUE(
      bounds.starts_with("reverse.h:21: [reverse] thread 40 of threadgroup 15 reads 4 bytes at byte 4000 of "
                         "buffer 0 (x), which has 4000 (line "))
      << bounds;
  EXPECT_TRUE(bounds.ends_with("of the Metal text: tile[thread_index] = x[at] * by;)")) << bounds;
  const std::string race = run(reverse(false), 1, 4096);
  EXPECT_TRUE(
      race.starts_with("reverse.h:41: [reverse] thread 0 of threadgroup 0 reads byte 252 of threadgroup array "
                       "tile, which nothing has written in this threadgroup"))
      << race;
  ASSERT_TRUE(device_->set_option("schedule", 1));
  const std::string other = run(reverse(false), 1, 4096);
  EXPECT_NE(other, "");
}

TEST_F(MetalHost, CachesObjects) {
  run(reverse(true), 1, 4096);
  const auto program = device_->compile(reverse(true));
  EXPECT_TRUE(program->from_cache);
}

TEST_F(MetalHost, SwitchesHaveTheirRanges) {
  EXPECT_FALSE(device_->set_option("check", 2));
  EXPECT_FALSE(device_->set_option("schedule", -1));
  EXPECT_FALSE(device_->set_option("threads", 0));
  EXPECT_FALSE(device_->set_option("budget_ms", 0));
  EXPECT_FALSE(device_->set_option("nan_birth", 1));
  EXPECT_TRUE(device_->set_option("threads", 3));
  EXPECT_TRUE(device_->set_option("budget_ms", 500));
}

TEST_F(MetalHost, StandsBehindNativeDevices) {
  EXPECT_GT(backend().rank(), find_backend("interp") ? find_backend("interp")->rank() : 0);
  const DeviceInfo& info = device_->info();
  EXPECT_EQ(info.limits.max_threads, 1024);
  EXPECT_EQ(info.limits.threadgroup_bytes, 32 * 1024);
  EXPECT_FALSE(backend().open(1));
}

}  // namespace
}  // namespace mt::metal_host
