#include "mt/harness/runner.h"

#include <gtest/gtest.h>

#include "mt/dsl/dsl.h"
#include "mt/harness/fake_backend.h"
#include "mt/harness/guarded.h"

namespace mt {
namespace {

struct Sample {
  In<f32> x{"x", {"rows", "n"}};
  Out<f32> y{"y", {"rows", "n"}};
  Size n{"n"};
  Scalar<f32> eps{"eps", 1e-5};
  Tunable threads{"threads", 64, {32, 64, 128}};
  Tunable count{"count", 1};

  Launch launch(const Problem& p) const {
    require(p["n"] != 13, "n must not be 13");
    return {.groups = {p["rows"]}, .threads = threads};
  }
  void body() const {
    const Shared<f32> tile("tile", 1024);
    tile[thread_id()] = x.row(group_id()).load(thread_id());
    y.row(group_id()).store(thread_id(), tile[thread_id()] + eps + cast<f32>(n));
  }
  ExpectedOutputs oracle(const Inputs&) const { return {}; }
  Problems tests() const { return {{{"rows", 1}, {"n", 4}, {"extra", 1}}}; }
  Problems benches() const { return {}; }
  Work work(const Problem&) const { return {}; }
};

struct TwoStages {
  In<f32> x{"x", {"n"}};
  Out<f32> y{"y", {"n"}};
  Temp<f32> between{"between", {"n"}}, unused{"unused", {"n"}};
  Launch launch(const Problem& p) const { return {.groups = {p["n"]}, .threads = 32}; }
  void first() const { between.store(group_id(), x.load(group_id())); }
  void second() const { y.store(group_id(), between.load(group_id())); }
  Stages<TwoStages> stages() const {
    return {{"first", &TwoStages::launch, &TwoStages::first}, {"second", &TwoStages::launch, &TwoStages::second}};
  }
  ExpectedOutputs oracle(const Inputs&) const { return {}; }
  Problems tests() const { return {{{"n", 4}}}; }
  Problems benches() const { return {}; }
  Work work(const Problem&) const { return {}; }
};

template <class K>
KernelEntry entry_of(const std::string& name) {
  return {name, DType::F32, {}, [name] { return std::make_unique<detail::Erased<K>>(name, detail::AsDeclared{}); }};
}

class RunnerTest : public ::testing::Test {
 protected:
  FakeBackend backend_{[](const Arguments&, const Groups&) {}};
  std::unique_ptr<Device> device_ = backend_.open().take();
  Runner runner_{backend_, *device_};
  KernelEntry entry_ = entry_of<Sample>("sample");

  std::string refusal(const Problem& p, const Overrides& o = {}) {
    try {
      runner_.prepare(entry_, p, o);
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  }
  std::string binding_refusal(const std::map<std::string, BufferView>& views) {
    const Call call = runner_.prepare(entry_, {{"rows", 2}, {"n", 8}});
    try {
      call.bind(views);
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  }
};

TEST_F(RunnerTest, ProblemsThatBreakTheContractAreRefusedWithASentence) {
  EXPECT_EQ(refusal({{"rows", 2}, {"n", 8}}), "accepted");
  EXPECT_EQ(refusal({{"rows", 2}, {"n", 8}, {"extra", 3}}), "accepted") << "test cases know this size";
  EXPECT_EQ(refusal({{"n", 8}}), "[sample/f32] the problem has no size rows; give it one; problem n:8");
  EXPECT_EQ(refusal({{"rows", -2}, {"n", 8}}),
            "[sample/f32] size rows is -2; sizes must not be negative; problem n:8/rows:-2");
  EXPECT_EQ(refusal({{"rows", 2}, {"n", 13}}), "[sample/f32] n must not be 13; problem n:13/rows:2");
  EXPECT_NE(refusal({{"rows", 2}, {"n", 8}, {"cols", 1}}).find("no size 'cols'; it has extra, n and rows"),
            std::string::npos);
  EXPECT_NE(refusal({{"rows", 1}, {"n", std::int64_t{1} << 32}}).find("does not fit its type u32"), std::string::npos);
  EXPECT_NE(refusal({{"rows", 4294900000}, {"n", 4294900000}}).find("larger than any memory"), std::string::npos);
  EXPECT_NE(refusal({{"rows", 1}, {"n", 4294901761}}).find("sizes go up to 4294901760"), std::string::npos);
  EXPECT_EQ(refusal({{"rows", 1}, {"n", 4294901760}}), "accepted");
  EXPECT_NE(refusal(Problem{{"rows", 1}, {"n", 1}}.with_real("epsilon", 1)).find("no real parameter 'epsilon'"),
            std::string::npos);
}

TEST_F(RunnerTest, CasesChooseTunablesAndTheCommandLineHasTheLastWord) {
  const Problem p = Problem{{"rows", 2}, {"n", 8}}.with_tunable("threads", 128).with_tunable("count", 5);
  EXPECT_EQ(p.text(), "n:8/rows:2/count=5/threads=128");
  const auto threads = [&](const Problem& problem, const Overrides& o = {}) {
    return runner_.prepare(entry_, problem, o).stages()[0].compiled.kernel.threads;
  };
  EXPECT_EQ(threads(p), 128);
  EXPECT_EQ(threads(p, {{"threads", 32}}), 32);
  EXPECT_EQ(threads({{"rows", 2}, {"n", 8}}), 64);
  EXPECT_NE(refusal(p.with_tunable("threads", 96)).find("one of 32, 64, 128"), std::string::npos);
  EXPECT_NE(refusal(p.with_tunable("width", 4)).find("no tunable 'width'"), std::string::npos);
}

TEST_F(RunnerTest, CasesSetSingleElements) {
  const Call call = runner_.prepare(entry_, {{"rows", 2}, {"n", 4}});
  const Problem plain{{"rows", 2}, {"n", 4}};
  const Problem p = plain.with_values(Values::Ones).with_element("x", 1, 7).with_element("x", -1, -3);
  EXPECT_EQ(p.text(), "n:4/rows:2/values:ones/x[1]:7/x[-1]:-3");
  EXPECT_TRUE(plain.plain());
  EXPECT_FALSE(plain.with_element("x", 0, 1).plain());
  const HostTensor x = make_inputs(call.tensors(), p).at("x");
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(x.at(i), i == 1 ? 7 : i == 7 ? -3 : 1) << i;
  const auto why = [&](const Problem& bad) {
    try {
      make_inputs(call.tensors(), bad);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(why(plain.with_element("x", 8, 1)), "the case sets x[8], but it has 8 elements");
  EXPECT_EQ(why(plain.with_element("x", -9, 1)), "the case sets x[-9], but it has 8 elements");
  EXPECT_EQ(why(plain.with_element("y", 0, 1)), "the case sets an element of 'y', which is no input");
}

TEST_F(RunnerTest, TunablesTakeOnlyTheirChoices) {
  EXPECT_EQ(refusal({{"rows", 2}, {"n", 8}}, {{"threads", 128}}), "accepted");
  EXPECT_NE(refusal({{"rows", 2}, {"n", 8}}, {{"threads", 96}}).find("one of 32, 64, 128"), std::string::npos);
  EXPECT_EQ(refusal({{"rows", 2}, {"n", 13}}, {{"threads", 128}, {"count", 3}}),
            "[sample/f32] n must not be 13; problem n:13/rows:2; with count=3, threads=128");
  EXPECT_NE(
      refusal({{"rows", 2}, {"n", 8}}, {{"width", 4}}).find("no tunable 'width'; the kernel has threads and count"),
      std::string::npos);
  EXPECT_EQ(refusal({{"rows", 2}, {"n", 8}}, {{"count", 3}}), "accepted");
  for (const int value : {0, -4, 1 << 30})
    EXPECT_NE(refusal({{"rows", 2}, {"n", 8}}, {{"count", value}}).find("it is 1 to 65536"), std::string::npos);
}

TEST_F(RunnerTest, GeometryIsHeldAgainstTheDeviceAndTheCompiledProgram) {
  const Problem p{{"rows", 70000}, {"n", 8}};
  const auto on = [&](Limits limits, int program_threads) {
    const FakeBackend backend([](const Arguments&, const Groups&) {}, limits, program_threads);
    const auto device = backend.open().take();
    try {
      Runner(backend, *device).prepare(entry_, p);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(on({}, 1024), "accepted");
  EXPECT_NE(on({.max_threads = 32}, 1024).find("64 threads, but the device allows 32"), std::string::npos);
  EXPECT_NE(on({}, 32).find("64 threads, but the compiled kernel allows 32"), std::string::npos);
  EXPECT_NE(on({.threadgroup_bytes = 4095}, 1024).find("4096 bytes of threadgroup memory"), std::string::npos);
  EXPECT_NE(on({.max_groups = {65535, 1, 1}}, 1024).find("70000 threadgroups along x"), std::string::npos);
}

TEST_F(RunnerTest, BuffersMustFitAndOutputsShareNothing) {
  FakeBuffer x(64), y(64), big(256);
  const BufferView vx{&x, 0, 64}, vy{&y, 0, 64};
  EXPECT_EQ(binding_refusal({{"x", vx}, {"y", vy}}), "accepted");
  EXPECT_EQ(binding_refusal({{"x", {&big, 0, 64}}, {"y", {&big, 64, 64}}}), "accepted");
  EXPECT_NE(binding_refusal({{"x", vx}}).find("tensor y has no buffer"), std::string::npos);
  EXPECT_NE(binding_refusal({{"x", vx}, {"y", vy}, {"z", vy}}).find("no tensor 'z'; it has x and y"),
            std::string::npos);
  EXPECT_NE(binding_refusal({{"x", {&x, 0, 60}}, {"y", vy}})
                .find("tensor x [rows=2, n=8] of f32 needs 64 bytes but its buffer view has 60"),
            std::string::npos);
  EXPECT_NE(binding_refusal({{"x", {&x, 4, 64}}, {"y", vy}}).find("ends at byte 68 of a buffer of 64"),
            std::string::npos);
  EXPECT_NE(binding_refusal({{"x", {&big, 2, 64}}, {"y", vy}}).find("no multiple of its 4-byte elements"),
            std::string::npos);
  EXPECT_NE(binding_refusal({{"x", vx}, {"y", vx}}).find("tensors x and y share memory"), std::string::npos);
  EXPECT_NE(binding_refusal({{"x", {&big, 0, 64}}, {"y", {&big, 60, 64}}}).find("share memory"), std::string::npos);
}

TEST_F(RunnerTest, EqualKernelsCompileOnce) {
  runner_.prepare(entry_, {{"rows", 2}, {"n", 8}});
  EXPECT_EQ(backend_.compiled, 1);
  runner_.prepare(entry_, {{"rows", 3}, {"n", 16}});
  EXPECT_EQ(backend_.compiled, 1) << "sizes are arguments";
  runner_.prepare(entry_, {{"rows", 3}, {"n", 9}});
  EXPECT_EQ(backend_.compiled, 2) << "another divisibility is another kernel";
  runner_.prepare(entry_, {{"rows", 3}, {"n", 16}}, {{"threads", 128}});
  EXPECT_EQ(backend_.compiled, 3);
}

TEST_F(RunnerTest, ScalarsAreBoundInTheKernelsOrder) {
  std::vector<std::uint64_t> seen;
  const FakeBackend backend([&](const Arguments& a, const Groups&) { seen = a.scalars; });
  const auto device = backend.open().take();
  Runner runner(backend, *device);
  const Call call = runner.prepare(entry_, Problem{{"rows", 2}, {"n", 8}}.with_real("eps", 0.5));
  FakeBuffer x(64), y(64);
  call.bind({{"x", {&x, 0, 64}}, {"y", {&y, 0, 64}}}).run();
  const auto& scalars = call.stages()[0].compiled.kernel.scalars;
  ASSERT_EQ(scalars.size(), seen.size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], scalars[i].name == "n" ? 8u : 0x3f000000u);
}

TEST_F(RunnerTest, TemporariesThatAStageUsesAreAllocatedAndStagesRunInOrder) {
  std::vector<std::size_t> buffers;
  const FakeBackend backend([&](const Arguments& a, const Groups& g) {
    EXPECT_EQ(g[0], 4);
    for (const BufferView& v : a.buffers) EXPECT_EQ(v.bytes, 16u);
    buffers.push_back(a.buffers.size());
  });
  const auto device = backend.open().take();
  Runner runner(backend, *device);
  const Call call = runner.prepare(entry_of<TwoStages>("two"), {{"n", 4}});
  FakeBuffer x(16), y(16);
  call.bind({{"x", {&x, 0, 16}}, {"y", {&y, 0, 16}}}).run();
  EXPECT_EQ(buffers, (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(dynamic_cast<FakeDevice&>(*device).allocations, 1);
}

TEST_F(RunnerTest, SizeZeroLaunchesNothingAndNeedsNoMemory) {
  const Call call = runner_.prepare(entry_, {{"rows", 0}, {"n", 8}});
  EXPECT_TRUE(call.empty());
  EXPECT_EQ(call.bind({}).launches(), 0u);
}

}  // namespace
}  // namespace mt
