#include "mt/harness/bench.h"

#include <gtest/gtest.h>

#include <set>

#include <nlohmann/json.hpp>

#include "mt/dsl/dsl.h"
#include "mt/harness/bench_report.h"
#include "mt/harness/fake_backend.h"
#include "mt/harness/interrupt.h"

namespace mt {
namespace {

struct Double {
  In<f32> x{"x", {"n"}};
  Out<f32> y{"y", {"n"}};
  Launch launch(const Problem& p) const { return {.groups = {p["n"]}, .threads = 32}; }
  void body() const { y.store(group_id(), x.load(group_id()) * 2.f); }
  ExpectedOutputs oracle(const Inputs& in) const {
    Expected e;
    for (std::int64_t i = 0; i < in.size("n"); ++i) e.value.push_back(2 * in["x"].at(i));
    e.bound.resize(e.value.size());
    return {{"y", e}};
  }
  Problems tests() const { return {{{"n", 4}}}; }
  Problems benches() const { return {{{"n", 1024}}}; }
  Work work(const Problem& p) const {
    const auto n = static_cast<double>(p["n"]);
    return {.read = 4 * n, .written = 4 * n, .flops = n};
  }
};

void twice(const Arguments& args, const Groups&) {
  const auto* x = fake_data<const float>(args.buffers[0]);
  auto* y = fake_data<float>(args.buffers[1]);
  for (std::size_t i = 0; i < args.buffers[1].bytes / 4; ++i) y[i] = x[i] * 2;
}

BenchResult bench(FakeDevice::Body body, BenchOptions options = {}, std::int64_t n = 1024) {
  const FakeBackend backend(std::move(body));
  const auto device = backend.open().take();
  Runner runner(backend, *device);
  const KernelEntry entry{"double", DType::F32, {}, [] {
                            return std::make_unique<detail::Erased<Double>>("double", detail::AsDeclared{});
                          }};
  options.stop = {.least = 10, .most = 20, .seconds = 0.05, .uncertainty = 0.01};
  options.rotation_bytes = options.rotation_bytes ? options.rotation_bytes : 1;
  return run_bench(runner, entry, {{"n", n}}, options, nullptr);
}

TEST(Bench, ARightKernelIsVerifiedAndTimed) {
  const BenchResult r = bench(twice);
  EXPECT_TRUE(r.verified) << r.error;
  EXPECT_EQ(r.compared, 1024);
  EXPECT_GE(r.time.count, 10u);
  EXPECT_GT(r.time.median, 0);
  EXPECT_GE(r.iterations, 10);
  EXPECT_DOUBLE_EQ(r.bytes_per_second(), 8192 / r.time.median);
  EXPECT_FALSE(r.has_roof);
}

TEST(Bench, ADeviceThatRecordsIsTimedByItsClockAgainstItsOwnRoof) {
  int runs = 0;
  const FakeBackend backend([&](const Arguments& args, const Groups& g) {
    ++runs;
    twice(args, g);
  });
  const auto device = backend.open().take();
  auto& fake = static_cast<FakeDevice&>(*device);
  fake.records = true;
  fake.ceiling = Ceiling{.copy = 8192 * 4, .read = 1e9, .write = 1e9, .flops = 1e9, .launch = 0.125};
  Runner runner(backend, *device);
  const KernelEntry entry{"double", DType::F32, {}, [] {
                            return std::make_unique<detail::Erased<Double>>("double", detail::AsDeclared{});
                          }};
  BenchOptions options;
  options.stop = {.least = 10, .most = 12, .seconds = 1e6, .uncertainty = 0.01};
  options.rotation_bytes = 3 * 8192;
  const auto source = ceiling_of(*device);
  const BenchResult r = run_bench(runner, entry, {{"n", 1024}}, options, source.get());
  EXPECT_TRUE(r.verified) << r.error;
  EXPECT_EQ(r.copies, 3u);
  EXPECT_DOUBLE_EQ(r.time.median, 1);  // a second a launch, whatever the host's clock says
  EXPECT_GE(r.iterations, 10 * 20);    // whole rounds of three sets, twenty calls at least
  EXPECT_EQ(r.iterations % 3, 0);
  EXPECT_GT(runs, r.iterations);
  ASSERT_TRUE(r.has_roof);
  EXPECT_DOUBLE_EQ(r.roof_fraction(), 0.25);
  EXPECT_EQ(r.ceiling.launch, 0.125);
}

TEST(Bench, AWrongKernelIsNotTimed) {
  int runs = 0;
  const BenchResult r = bench([&](const Arguments& args, const Groups& g) {
    ++runs;
    twice(args, g);
    fake_data<float>(args.buffers[1])[1023] += 1;
  });
  EXPECT_FALSE(r.verified);
  EXPECT_EQ(runs, 1);
  EXPECT_NE(r.error.find("element 1023"), std::string::npos) << r.error;
}

TEST(Bench, AKernelThatTurnsWrongWhileTimedIsCaught) {
  int runs = 0;
  const BenchResult r = bench([&](const Arguments& args, const Groups& g) {
    twice(args, g);
    if (++runs > 8) fake_data<float>(args.buffers[1])[3] += 1;
  });
  EXPECT_FALSE(r.verified);
  EXPECT_NE(r.error.find("differ from those that were verified"), std::string::npos) << r.error;
}

TEST(Bench, SmallTensorsRotateThroughCopies) {
  std::set<const Buffer*> seen;
  BenchOptions options;
  options.rotation_bytes = 5 * 8192;
  const auto body = [&](const Arguments& args, const Groups& g) {
    seen.insert(args.buffers[1].buffer);
    twice(args, g);
  };
  EXPECT_EQ(bench(body, options).copies, 5u);
  EXPECT_EQ(seen.size(), 5u);
  options.memory = 2 * 8192;
  EXPECT_EQ(bench(body, options).copies, 2u);
  options.most_copies = 1;
  EXPECT_EQ(bench(body, options).copies, 1u);
}

TEST(Bench, NothingToMeasureIsAnError) {
  const BenchResult r = bench(twice, {}, 0);
  EXPECT_FALSE(r.verified);
  EXPECT_NE(r.error.find("nothing can be measured"), std::string::npos);
}

TEST(Bench, AnInterruptEndsIt) {
  EXPECT_THROW(bench([](const Arguments& args, const Groups& g) {
                 twice(args, g);
                 interrupt();
               }),
               Interrupted);
  clear_interrupt();
}

TEST(Bench, JsonHasGoogleBenchmarksFormAndOurCounters) {
  BenchResult r = bench(twice);
  r.has_roof = true;
  r.ceiling = {.copy = 1e10, .read = 2e10, .write = 1e10, .flops = 1e11};
  r.roof = roof_of(r.work.read, r.work.written, r.work.flops, r.ceiling);
  BenchResult bad;
  bad.kernel = "bad";
  bad.dtype = "f32";
  bad.error = "wrong";
  const auto j = nlohmann::json::parse(bench_json({r, bad}, {.backend = "fake", .name = "host"}));
  EXPECT_EQ(j["context"]["device"], "fake");
  const auto& b = j["benchmarks"][0];
  EXPECT_EQ(b["name"], "double/f32/n:1024");
  EXPECT_EQ(b["time_unit"], "ns");
  for (const char* key :
       {"real_time", "cpu_time", "iterations", "verified", "compared", "bytes_per_second", "flops_per_second",
        "roof_bytes_per_second", "roof_fraction", "spread", "compile_ms", "rotated"})
    EXPECT_TRUE(b.contains(key)) << key;
  EXPECT_NEAR(b["roof_bytes_per_second"].get<double>(), 1e10, 1);
  EXPECT_EQ(j["benchmarks"][1]["error_occurred"], true);
  EXPECT_EQ(j["benchmarks"][1]["verified"], false);
  EXPECT_NE(bench_line(bad, 20, false).find("FAIL bad/f32"), std::string::npos);
  r.work.flops = 0;
  EXPECT_EQ(bench_line(r, 20, false).find("0.00"), std::string::npos) << "no rate of what is not done";
}

}  // namespace
}  // namespace mt
