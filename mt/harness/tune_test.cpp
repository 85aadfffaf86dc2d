// The tuner over a device whose time follows from the geometry of the launch.
#include "mt/harness/tune.h"

#include <gtest/gtest.h>

#include <set>

#include "mt/dsl/dsl.h"
#include "mt/harness/fake_backend.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/stopwatch.h"
#include "mt/harness/tuned.h"

namespace mt {
namespace {

/// `layers` beyond 1 are what the fake device takes for a fault.
struct Tuned {
  In<f32> x{"x", {"n"}};
  Out<f32> y{"y", {"n"}};
  Tunable threads{"threads", 32, {32, 64, 128, 256, 2048}};
  Tunable layers{"layers", 1, {1, 2}};
  Tunable idle{"idle", 1, {1, 2}};  // changes nothing
  Launch launch(const Problem& p) const {
    return {.groups = {ceil_div(p["n"], threads), int{layers}}, .threads = threads};
  }
  void body() const { y.store(thread_id(), x.load(thread_id())); }
  ExpectedOutputs oracle(const Inputs& in) const {
    Expected e;
    for (std::int64_t i = 0; i < in.size("n"); ++i) e.value.push_back(in["x"].at(i));
    e.bound.resize(e.value.size());
    return {{"y", e}};
  }
  Problems tests() const { return {{{"n", 1024}}}; }
  Problems benches() const { return {{{"n", 1024}}}; }
  Work work(const Problem&) const { return {}; }
};

const KernelEntry kEntry{
    "tuned", DType::F32, {}, [] { return std::make_unique<detail::Erased<Tuned>>("tuned", detail::AsDeclared{}); }};

/// 20 µs a threadgroup; with two layers it is quick and wrong.
void copy(const Arguments& args, const Groups& groups) {
  const Stopwatch watch;
  const bool faulty = groups[1] > 1;
  while (watch.seconds() < 20e-6 * static_cast<double>(faulty ? 1 : groups[0])) {
  }
  std::memcpy(fake_data<float>(args.buffers[1]), fake_data<const float>(args.buffers[0]), args.buffers[1].bytes);
  if (faulty) fake_data<float>(args.buffers[1])[7] += 1;
}

struct Fixture {
  explicit Fixture(int program_threads = 1024, FakeDevice::Body body = copy)
      : backend(std::move(body), {}, program_threads), device(backend.open().take()), runner(backend, *device) {}
  TuneResult tune(Overrides fixed = {}) {
    TuneOptions options;
    options.fixed = std::move(fixed);
    options.brief = 3;
    options.stop = {.least = 7, .most = 9, .seconds = 0.05, .uncertainty = 0.5};
    return mt::tune(runner, kEntry, {{"n", 1024}}, options);
  }
  FakeBackend backend;
  std::unique_ptr<Device> device;
  Runner runner;
};

TEST(Tune, TheFastestThatIsRightIsFound) {
  Fixture f;
  const TuneResult r = f.tune();
  ASSERT_EQ(r.error, "");
  EXPECT_TRUE(r.improved);
  EXPECT_EQ(r.best.chosen.at("threads"), 256);
  EXPECT_EQ(r.best.chosen.at("layers"), 1);
  EXPECT_GT(r.planned.time.median, 4 * r.best.time.median);
  ASSERT_EQ(r.candidates.size(), 20u);  // 5 x 2 x 2, the plan's among them
  EXPECT_TRUE(r.candidates[0].chosen.empty());
  EXPECT_EQ(r.count(CandidateFate::Refused), 4u);  // 2048 threads
  EXPECT_EQ(r.count(CandidateFate::Alike), 8u);    // idle
  EXPECT_GE(r.count(CandidateFate::Wrong), 1u);    // among the fastest are some with two layers
  for (const Candidate& c : r.candidates)
    if (c.fate == CandidateFate::Wrong) {
      EXPECT_NE(c.why.find("y"), std::string::npos) << c.why;
    }
}

TEST(Tune, WhatTheDeviceRefusesIsNotCompiledAndWhatItsCompilerLimitsIsPassedBy) {
  Fixture f(128);
  const TuneResult r = f.tune({{"layers", 1}});
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.best.chosen.at("threads"), 128);
  EXPECT_EQ(r.count(CandidateFate::Broken), 1u);  // 256 threads
  EXPECT_EQ(f.backend.compiled, 4);               // 32, 64, 128 and 256, none twice
}

TEST(Tune, FixedTunablesKeepTheirValueAndThePlanIsWhatCountsAsBefore) {
  Fixture f;
  const TuneResult r = f.tune({{"threads", 64}, {"layers", 1}});
  ASSERT_EQ(r.error, "");
  for (std::size_t i = 1; i < r.candidates.size(); ++i) EXPECT_EQ(r.candidates[i].chosen.at("threads"), 64);
  EXPECT_TRUE(r.improved);
  EXPECT_GT(r.planned.time.median, 1.5 * r.best.time.median);
}

TEST(Tune, APlanThatIsWrongHasNoResult) {
  Fixture f(1024, [](const Arguments& args, const Groups&) { fake_data<float>(args.buffers[1])[0] = 1; });
  const TuneResult r = f.tune();
  EXPECT_NE(r.error.find("as planned it is wrong"), std::string::npos) << r.error;
  EXPECT_FALSE(r.improved);
}

TEST(Tune, AnInterruptEndsIt) {
  Fixture f;
  interrupt();
  EXPECT_THROW(f.tune(), Interrupted);
  clear_interrupt();
}

TEST(Tune, WorkersTogetherCompileWhatWillBeTimed) {
  Fixture f;
  for (std::size_t part = 0; part < 3; ++part) compile_candidates(f.runner, kEntry, {{"n", 1024}}, {}, part, 3);
  const int before = f.backend.compiled;
  EXPECT_EQ(before, 4);  // layers change the grid alone
  f.tune();
  EXPECT_EQ(f.backend.compiled, before);
}

Signature three() {
  Signature s;
  s.tunables = {{"a", 2, false, {1, 2, 4, 8}}, {"b", 10, false, {10, 20, 30}}, {"c", 3, false, {}}};
  return s;
}

TEST(TuningSpace, AllCombinationsWhereTheyAreFew) {
  std::size_t left = 1;
  const std::vector<Overrides> all = tuning_space(three(), {}, 1000, &left);
  EXPECT_EQ(left, 0u);
  EXPECT_EQ(all.size(), 4u * 3 * 4);  // c: 1, 3, 6, 12; 3 / 4 is 0, which counts as 1
  EXPECT_TRUE(all[0].empty());
  EXPECT_EQ(std::set<Overrides>(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(std::set<Overrides>(all.begin(), all.end()).count({{"a", 2}, {"b", 10}, {"c", 3}}), 0u);
}

TEST(TuningSpace, NeighboursOfThePlanComeFirstWhereTheyAreMany) {
  std::size_t left = 0;
  const std::vector<Overrides> all = tuning_space(three(), {}, 20, &left);
  EXPECT_EQ(all.size(), 21u);
  EXPECT_EQ(left, 48u - 21);
  const Overrides planned{{"a", 2}, {"b", 10}, {"c", 3}};
  for (std::size_t i = 1; i <= 3 + 2 + 3; ++i) {
    int changed = 0;
    for (const auto& [name, value] : all[i]) changed += planned.at(name) != value;
    EXPECT_EQ(changed, 1) << i;
  }
  EXPECT_EQ(all, tuning_space(three(), {}, 20));
  EXPECT_EQ(tuning_space(three(), {}, 40).size(), 41u);  // beyond those that change two
}

TEST(TuningSpace, FixedTunablesStayAndAKernelWithoutAnyHasOnlyItsPlan) {
  for (const Overrides& chosen : tuning_space(three(), {{"b", 30}}, 1000))
    if (!chosen.empty()) {
      EXPECT_EQ(chosen.at("b"), 30);
    }
  EXPECT_EQ(tuning_space({}, {}, 10).size(), 1u);
}

}  // namespace
}  // namespace mt
