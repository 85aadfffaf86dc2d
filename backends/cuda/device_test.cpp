// The device: what can be known without a GPU, then what a GPU does.
#include "backends/cuda/device.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/clike/alignment.h"
#include "backends/cuda/compiler.h"
#include "backends/cuda/driver.h"
#include "backends/cuda/program.h"
#include "backends/cuda/roofs.h"
#include "mt/ir/text.h"
#include "mt/passes/pipeline.h"

namespace mt::cuda {
namespace {
namespace fs = std::filesystem;

struct Folder {
  Folder() {
    char name[] = "/tmp/mt_cuda_test_XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  std::string path;
};

const Backend& cuda() { return *find_backend("cuda"); }

Kernel parsed(const std::string& text) {
  Kernel k = parse(text).take();
  optimise(k, cuda().pipeline());
  return k;
}

/// y[i] = x[i] * a of 64 elements in two blocks; every thread moves one.
constexpr const char* kScale = R"(kernel @scale threads 32 {
  device in %x: f32 [64]
  device out %y: f32 [64]
  scalar %a: f32
  %g: u32 = group_id 0
  %t: u32 = thread_id
  %32: u32 = const 32
  %0: u32 = mul %g, %32
  %i: u32 = add %0, %t
  %a: f32 = param %a
  %1: f32 = load %x[%i]
  %2: f32 = mul %1, %a
  store %y[%i], %2
}
)";

/// The kernels of some tests: one lane of a vector, and 160,000 bytes of threadgroup memory turned round.
constexpr const char* kEighth = R"(kernel @eighth threads 32 {
  device in %x: bf16 [256]
  device out %y: bf16 [256]
  threadgroup %s: f32 [32]
  %t: u32 = thread_id
  %8: u32 = const 8
  %i: u32 = mul %t, %8
  %v: bf16x8 = load %x[%i] align 8
  %w: bf16 = extract %v, 3
  store %y[%t], %w
}
)";
constexpr const char* kWide = R"(kernel @wide threads 32 {
  device in %x: f32 [128]
  device out %y: f32 [32]
  %t: u32 = thread_id
  %4: u32 = const 4
  %i: u32 = mul %t, %4
  %v: f32x4 = load %x[%i] align 4
  %w: f32 = extract %v, 3
  store %y[%t], %w
}
)";
constexpr const char* kBig = R"(kernel @big threads 32 {
  device out %y: f32 [32]
  threadgroup %a: f32 [40000]
  %t: u32 = thread_id
  %o: u32 = const 39968
  %i: u32 = add %t, %o
  %31: u32 = const 31
  %r: u32 = sub %31, %t
  %j: u32 = add %r, %o
  %v: f32 = cast %t
  store %a[%i], %v
  barrier
  %w: f32 = load %a[%j]
  store %y[%t], %w
}
)";
/// Reads far outside, where no buffer lies.
constexpr const char* kAstray = R"(kernel @astray threads 32 {
  device in %x: f32 [64]
  device out %y: f32 [32]
  %t: u32 = thread_id
  %o: u64 = const 1099511627776
  %w: u64 = cast %t
  %i: u64 = add %o, %w
  %v: f32 = load %x[%i]
  store %y[%t], %v
}
)";

TEST(CudaDriver, SaysWhatIsMissing) {
  const auto absent = load_driver("libmt_there_is_no_such_driver.so");
  ASSERT_FALSE(absent);
  EXPECT_NE(std::string(absent.error().what()).find("cuda: no NVIDIA driver here"), std::string::npos)
      << absent.error().what();
  const auto foreign = load_driver("libc.so.6");
  ASSERT_FALSE(foreign);
  EXPECT_NE(std::string(foreign.error().what()).find("libc.so.6 has no cuInit"), std::string::npos)
      << foreign.error().what();
}

TEST(CudaDevice, OpenAndUnavailableSayTheSame) {
  const auto& found = driver();
  if (found) {
    const auto beyond = cuda().open((*found)->devices);
    ASSERT_FALSE(beyond);
    EXPECT_NE(std::string(beyond.error().what()).find("there is no device"), std::string::npos)
        << beyond.error().what();
    EXPECT_FALSE(cuda().open(-1));
    return;
  }
  const auto device = cuda().open();
  ASSERT_FALSE(device);
  EXPECT_EQ(std::string(device.error().what()), cuda().unavailable());
  EXPECT_NE(cuda().unavailable(), "");
}

TEST(CudaDevice, NamesArchitectures) {
  EXPECT_EQ(arch_of(9, 0), "sm_90a");
  EXPECT_EQ(arch_of(8, 6), "sm_86");
  EXPECT_EQ(arch_of(12, 0), "sm_120a");
}

TEST(CudaCache, TheKeyCoversWhatACubinDependsOn) {
  const std::string key = cubin_key("text", "sm_90a", "NVRTC 13.0 123");
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(key, cubin_key("text", "sm_90a", "NVRTC 13.0 123"));
  EXPECT_NE(key, cubin_key("text ", "sm_90a", "NVRTC 13.0 123"));
  EXPECT_NE(key, cubin_key("text", "sm_80", "NVRTC 13.0 123"));
  EXPECT_NE(key, cubin_key("text", "sm_90a", "NVRTC 13.0 124"));
}

TEST(CudaCache, KeepsCubinsAndMakesDamagedOnesAgain) {
  if (compiler_identity().empty()) GTEST_SKIP() << "no CUDA compiler";
  const Folder f;
  ObjectCache cache(f.path);
  const std::string text = "extern \"C\" __global__ void k(float* x) { x[threadIdx.x] = 1; }";
  const Machine first = machine_code(text, "k", kHopper, cache);
  EXPECT_FALSE(first.from_cache);
  EXPECT_EQ(first.cubin.substr(1, 3), "ELF");
  const Machine second = machine_code(text, "k", kHopper, cache);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.cubin, first.cubin);
  EXPECT_FALSE(machine_code(text, "k", "sm_80", cache).from_cache);
  EXPECT_FALSE(machine_code(text, "k", kHopper, cache, true).from_cache);
  const std::string path = cache.path(cubin_key(text, kHopper, compiler_identity()));
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(200).put('\x77').put('\x66');
  EXPECT_FALSE(machine_code(text, "k", kHopper, cache).from_cache);
  EXPECT_TRUE(machine_code(text, "k", kHopper, cache).from_cache);
}

TEST(CudaCache, SaysWhichKernelDoesNotCompile) {
  if (compiler_identity().empty()) GTEST_SKIP() << "no CUDA compiler";
  const Folder f;
  ObjectCache cache(f.path);
  const auto sentence = [&](const std::string& text, const std::string& arch) -> std::string {
    try {
      (void)machine_code(text, "broken", arch, cache);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(sentence("extern \"C\" __global__ void k() { nothing(); }", kHopper).find("[broken]"), std::string::npos);
  EXPECT_NE(sentence("extern \"C\" __global__ void k() {}", "sm_30"), "");
  EXPECT_TRUE(fs::is_empty(f.path));
}

TEST(CudaDevice, VectorAccessesAskForAlignedViews) {
  EXPECT_EQ(clike::view_alignments(parsed(kScale), 16), (std::vector<std::size_t>{4, 4}));
  const Kernel wide = parsed(kEighth);
  EXPECT_EQ(clike::view_alignments(wide, 16), (std::vector<std::size_t>{16, 2}));
}

TEST(CudaDevice, KernelsOfTheseTestsCompile) {
  for (const char* text : {kScale, kEighth, kWide, kBig, kAstray}) {
    const auto problem = cuda().check_artefact(cuda().artefact(parsed(text)).value(), nullptr);
    if (!problem) GTEST_SKIP() << "no CUDA compiler";
    EXPECT_EQ(*problem, "") << text;
  }
}

TEST(CudaRoofs, CompileWithoutSpills) {
  const auto made = compile(roofs_text());
  if (!made) GTEST_SKIP() << "no CUDA compiler";
  EXPECT_EQ(made->error, "");
  EXPECT_EQ(made->kernels.size(), 6u);
  for (const auto& [name, facts] : made->kernels) EXPECT_EQ(facts.spill_bytes, 0) << name;
}

// ── with a GPU ──

class CudaGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = cuda().unavailable(); !why.empty()) GTEST_SKIP() << why;
    device_ = cuda().open().take();
  }
  std::unique_ptr<Buffer> buffer(const std::vector<float>& values) {
    auto b = device_->allocate(values.size() * 4);
    b->write(values.data(), values.size() * 4);
    return b;
  }
  std::vector<float> values(const Buffer& b) {
    std::vector<float> v(b.bytes() / 4);
    b.read(v.data(), v.size() * 4);
    return v;
  }
  static BufferView all(Buffer& b) { return {&b, 0, b.bytes()}; }
  std::unique_ptr<Device> device_;
};

constexpr std::uint64_t kTwoAndHalf = 0x40200000;  // 2.5f

TEST_F(CudaGpu, RunsAKernel) {
  const auto p = device_->compile(parsed(kScale));
  EXPECT_GE(p->max_threads(), 32);
  EXPECT_GT(std::stoi(p->details.at("registers")), 0);
  EXPECT_EQ(p->details.at("shared_bytes"), "0");
  std::vector<float> x(64);
  for (std::size_t i = 0; i < 64; ++i) x[i] = static_cast<float>(i);
  const auto in = buffer(x), out = buffer(std::vector<float>(64, -1));
  device_->launch(*p, {{all(*in), all(*out)}, {kTwoAndHalf}}, {2, 1, 1});
  device_->wait();
  for (std::size_t i = 0; i < 64; ++i) x[i] *= 2.5f;
  EXPECT_EQ(values(*out), x);
  EXPECT_TRUE(device_->compile(parsed(kScale))->from_cache);
}

TEST_F(CudaGpu, MemoryIsZeroedAlignedAndBounded) {
  for (int round = 0; round < 2; ++round) {
    const auto b = device_->allocate(1 << 20);
    EXPECT_EQ(values(*b), std::vector<float>(1 << 18, 0));
    const std::vector<float> ones(1 << 18, 1);
    b->write(ones.data(), 1 << 20);
  }
  const auto b = device_->allocate(100);
  float x = 0;
  EXPECT_THROW(b->read(&x, 4, 97), Error);
  EXPECT_THROW(b->write(&x, 4, std::size_t(-2)), Error);
  EXPECT_EQ(b->host(), nullptr);
  EXPECT_THROW((void)device_->allocate(std::size_t{1} << 50), Error);
  EXPECT_NO_THROW((void)device_->allocate(4096));
}

TEST_F(CudaGpu, RefusesAViewThatItsVectorsCannotRead) {
  const auto p = device_->compile(parsed(kWide));
  const auto in = buffer(std::vector<float>(136, 3)), out = buffer(std::vector<float>(32));
  try {
    device_->launch(*p, {{{in.get(), 4, 512}, all(*out)}, {}}, {1, 1, 1});
    ADD_FAILURE() << "launched with a view at byte 4";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("tensor x starts at byte 4"), std::string::npos) << e.what();
  }
  device_->launch(*p, {{{in.get(), 16, 512}, all(*out)}, {}}, {1, 1, 1});
  EXPECT_EQ(values(*out), std::vector<float>(32, 3));
}

TEST_F(CudaGpu, GivesMoreThan48KibOfSharedMemory) {
  const auto p = device_->compile(parsed(kBig));
  EXPECT_EQ(p->details.at("shared_bytes"), "160000");
  const auto out = buffer(std::vector<float>(32));
  device_->launch(*p, {{all(*out)}, {}}, {1, 1, 1});
  const std::vector<float> y = values(*out);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(y[i], static_cast<float>(31 - i));
}

TEST_F(CudaGpu, RecordsLaunchesAndTimesThem) {
  const auto p = device_->compile(parsed(kScale));
  const auto x = buffer(std::vector<float>(64, 1)), y = buffer(std::vector<float>(64));
  const Arguments arguments{{all(*x), all(*y)}, {kTwoAndHalf}};
  const auto recording = device_->record([&] {
    for (int n = 0; n < 10; ++n) device_->launch(*p, arguments, {2, 1, 1});
  });
  ASSERT_NE(recording, nullptr);
  EXPECT_EQ(values(*y), std::vector<float>(64, 0)) << "recording is not running";
  const double seconds = recording->run();
  EXPECT_GT(seconds, 1e-7);
  EXPECT_LT(seconds, 1);
  EXPECT_EQ(values(*y), std::vector<float>(64, 2.5));
  EXPECT_THROW((void)device_->record([] { throw Error("stop"); }), Error);
  EXPECT_NO_THROW(device_->wait());
}

TEST_F(CudaGpu, MeasuresItsCeilings) {
  const auto c = device_->measure_ceiling();
  ASSERT_TRUE(c);
  EXPECT_GT(c->copy, 50e9);
  EXPECT_GT(c->read, 50e9);
  EXPECT_GT(c->write, 50e9);
  EXPECT_LT(c->read, 50e12);
  EXPECT_GT(c->flops, 1e12);
  EXPECT_GT(c->launch, 1e-8);
  EXPECT_LT(c->launch, 1e-3);
}

TEST_F(CudaGpu, GoesOnAfterAKernelThatEndsTheContext) {
  const auto bad = device_->compile(parsed(kAstray));
  const auto good = device_->compile(parsed(kScale));
  const auto x = buffer(std::vector<float>(64, 2));
  {
    const auto y = buffer(std::vector<float>(32));
    device_->launch(*bad, {{all(*x), all(*y)}, {}}, {1, 1, 1});
    try {
      device_->wait();
      ADD_FAILURE() << "nothing failed";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("[astray] on 1x1x1 blocks of 32 threads"), std::string::npos) << e.what();
    }
  }
  float value = 0;
  EXPECT_THROW(x->read(&value, 4), Error);
  try {
    device_->wait();
  } catch (const Error& e) {
    // Drivers may refuse everything until the process ends: then each try says so and names the kernel.
    const std::string sentence = e.what();
    EXPECT_NE(sentence.find("start again"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("[astray]"), std::string::npos) << sentence;
    EXPECT_THROW((void)device_->allocate(64), Error);
    EXPECT_THROW((void)device_->compile(parsed(kScale)), Error);
    return;
  }
  const auto x2 = buffer(std::vector<float>(64, 2)), y2 = buffer(std::vector<float>(64));
  EXPECT_THROW(device_->launch(*good, {{all(*x), all(*y2)}, {kTwoAndHalf}}, {2, 1, 1}), Error);
  device_->launch(*good, {{all(*x2), all(*y2)}, {kTwoAndHalf}}, {2, 1, 1});
  EXPECT_EQ(values(*y2), std::vector<float>(64, 5));
}

}  // namespace
}  // namespace mt::cuda
