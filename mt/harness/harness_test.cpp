// The promise of the harness: a kernel that is wrong is caught, whatever way it is wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <mutex>

#include "mt/dsl/dsl.h"
#include "mt/harness/fake_backend.h"
#include "mt/harness/test_report.h"
#include "mt/harness/test_run.h"

namespace mt {
namespace {

/// out = a + b: the contract that all fakes below pretend to fulfil.
struct Add {
  In<f32> a{"a", {"n"}};
  In<f32> b{"b", {"n"}};
  Out<f32> out{"out", {"n"}};

  Launch launch(const Problem& p) const {
    require(p["n"] != 13, "n must not be 13");
    return {.groups = {map_groups(p["n"], 1, 64)}, .threads = 64};
  }
  void body() const { out.store(thread_id(), a.load(thread_id()) + b.load(thread_id())); }
  ExpectedOutputs oracle(const Inputs& in) const {
    Expected e;
    for (std::int64_t i = 0; i < in.size("n"); ++i) {
      e.value.push_back(in["a"].at(i) + in["b"].at(i));
      e.bound.push_back(0);
    }
    return {{"out", e}};
  }
  Problems tests() const { return over(Problem{}, "n", {1, 1000, 0}); }
  Problems benches() const { return {{{"n", 4096}}}; }
  Work work(const Problem& p) const {
    const auto n = static_cast<double>(p["n"]);
    return {.read = 8 * n, .written = 4 * n, .flops = n};
  }
};

template <class K>
KernelEntry entry_of(const std::string& name) {
  return {name, DType::F32, {}, [name] { return std::make_unique<detail::Erased<K>>(name, detail::AsDeclared{}); }};
}

/// How the fake device executes `Add`.
using Body = FakeDevice::Body;
void add_right(const Arguments& args, const Groups&) {
  const BufferView &a = args.buffers[0], &b = args.buffers[1], &out = args.buffers[2];
  const auto* pa = fake_data<const float>(a);
  const auto* pb = fake_data<const float>(b);
  auto* po = fake_data<float>(out);
  for (std::size_t i = 0; i < out.bytes / 4; ++i) po[i] = pa[i] + pb[i];
}

CaseResult run_fake(Body body, std::int64_t n = 1000, bool repeat = true) {
  FakeBackend backend(std::move(body));
  const auto device = backend.open().take();
  Runner runner(backend, *device);
  return run_case(runner, entry_of<Add>("add"), {{"n", n}}, {.repeat = repeat});
}

TEST(Harness, ARightKernelPassesWithEveryElementCompared) {
  const CaseResult r = run_fake(add_right);
  EXPECT_TRUE(r.passed) << r.error;
  EXPECT_EQ(r.compared, 1000);
  EXPECT_EQ(r.problem, "n:1000");
}

TEST(Harness, OneWrongElementIsCaughtWhereverItIs) {
  for (const std::size_t at : {0u, 499u, 999u}) {
    const CaseResult r = run_fake([at](const Arguments& args, const Groups& groups) {
      add_right(args, groups);
      float& x = fake_data<float>(args.buffers[2])[at];
      x = std::nextafter(x, 1e9f);
    });
    EXPECT_FALSE(r.passed);
    EXPECT_NE(r.error.find("element " + std::to_string(at)), std::string::npos) << r.error;
    EXPECT_GT(r.ratio, 1);
  }
}

TEST(Harness, AMissingLastTileIsCaught) {
  const CaseResult r = run_fake([](const Arguments& args, const Groups& groups) {
    Arguments shorter = args;
    shorter.buffers[2].bytes = 992 * 4;
    add_right(shorter, groups);
  });
  EXPECT_FALSE(r.passed);
  EXPECT_NE(r.error.find("8 of 1000"), std::string::npos) << r.error;
}

TEST(Harness, AKernelThatDoesNothingIsCaught) {
  const CaseResult r = run_fake([](const Arguments&, const Groups&) {});
  EXPECT_FALSE(r.passed);
  EXPECT_EQ(r.compared, 1000);
}

TEST(Harness, WritesOutsideATensorAreCaught) {
  for (const int bytes : {-1, -4096, 4000, 4000 + 4095}) {
    const CaseResult r = run_fake([bytes](const Arguments& args, const Groups& groups) {
      add_right(args, groups);
      auto* at = fake_data<unsigned char>(args.buffers[2]) + bytes;
      *at = static_cast<unsigned char>(*at + 1);
    });
    EXPECT_FALSE(r.passed);
    EXPECT_NE(r.error.find(bytes < 0 ? "before its start" : "past its end"), std::string::npos) << r.error;
  }
}

TEST(Harness, AChangedInputIsCaught) {
  const CaseResult r = run_fake([](const Arguments& args, const Groups& groups) {
    add_right(args, groups);
    fake_data<float>(args.buffers[1])[7] += 1;
  });
  EXPECT_FALSE(r.passed);
  EXPECT_NE(r.error.find("b: the kernel changed this input"), std::string::npos) << r.error;
}

TEST(Harness, ResultsThatChangeFromRunToRunAreCaught) {
  // Each run is within the bound of the loose oracle, yet no two are equal.
  struct Loose : Add {
    ExpectedOutputs oracle(const Inputs& in) const {
      ExpectedOutputs e = Add::oracle(in);
      for (double& bound : e["out"].bound) bound = 1;
      return e;
    }
  };
  int runs = 0;
  FakeBackend backend([&](const Arguments& args, const Groups& groups) {
    add_right(args, groups);
    fake_data<float>(args.buffers[2])[5] += static_cast<float>(++runs) * 0.01f;
  });
  const auto device = backend.open().take();
  Runner runner(backend, *device);
  const CaseResult r = run_case(runner, entry_of<Loose>("loose"), {{"n", 100}}, {.repeat = true});
  EXPECT_FALSE(r.passed);
  EXPECT_NE(r.error.find("element 5 differs between two runs"), std::string::npos) << r.error;
  EXPECT_EQ(runs, 2);
}

TEST(Harness, AnUnwrittenElementWhereNanIsRightIsCaught) {
  struct Nans : Add {
    ExpectedOutputs oracle(const Inputs& in) const {
      ExpectedOutputs e = Add::oracle(in);
      e["out"].value[3] = std::nan("");
      return e;
    }
  };
  const auto run = [](bool write) {
    FakeBackend backend([write](const Arguments& args, const Groups&) {
      const auto *a = fake_data<const float>(args.buffers[0]), *b = fake_data<const float>(args.buffers[1]);
      auto* out = fake_data<float>(args.buffers[2]);
      for (int i = 0; i < 100; ++i)
        if (i != 3) out[i] = a[i] + b[i];
      if (write) out[3] = std::nanf("");
    });
    const auto device = backend.open().take();
    Runner runner(backend, *device);
    return run_case(runner, entry_of<Nans>("nans"), {{"n", 100}});
  };
  EXPECT_TRUE(run(true).passed) << run(true).error;
  EXPECT_NE(run(false).error.find("element 3 was never written"), std::string::npos) << run(false).error;
}

TEST(Harness, AnOutputThatTheOracleForgetsIsCaught) {
  struct Forgetful : Add {
    ExpectedOutputs oracle(const Inputs&) const { return {}; }
  };
  FakeBackend backend(add_right);
  const auto device = backend.open().take();
  Runner runner(backend, *device);
  const CaseResult r = run_case(runner, entry_of<Forgetful>("forgetful"), {{"n", 100}});
  EXPECT_FALSE(r.passed);
  EXPECT_EQ(r.compared, 0);
  EXPECT_NE(r.error.find("output out is not mentioned by the oracle"), std::string::npos) << r.error;
}

TEST(Harness, AnOracleOfNothingButNanAcceptsNothing) {
  struct Clueless : Add {
    ExpectedOutputs oracle(const Inputs& in) const {
      ExpectedOutputs e = Add::oracle(in);
      for (double& v : e["out"].value) v = std::nan("");
      return e;
    }
  };
  struct Boundless : Add {
    ExpectedOutputs oracle(const Inputs& in) const {
      ExpectedOutputs e = Add::oracle(in);
      for (double& bound : e["out"].bound) bound = std::nan("");
      return e;
    }
  };
  FakeBackend right(add_right), silent([](const Arguments&, const Groups&) {});
  for (FakeBackend* backend : {&right, &silent}) {
    const auto device = backend->open().take();
    Runner runner(*backend, *device);
    EXPECT_FALSE(run_case(runner, entry_of<Clueless>("clueless"), {{"n", 100}}).passed);
    EXPECT_FALSE(run_case(runner, entry_of<Boundless>("boundless"), {{"n", 100}}).passed);
  }
}

TEST(Harness, AKernelWithoutCasesFailsTheRun) {
  struct Untested : Add {
    Problems tests() const { return {}; }
  };
  FakeBackend backend(add_right);
  const auto device = backend.open().take();
  Runner runner(backend, *device);
  const KernelEntry add = entry_of<Add>("add"), untested = entry_of<Untested>("untested");
  const TestTotals totals = run_tests(runner, {&add, &untested}, {}, {});
  EXPECT_EQ(totals.exit_code(), 3);
  EXPECT_EQ(totals.unchecked, std::vector<std::string>{"untested/f32"});
}

TEST(Harness, JobsRunEveryCaseOnceAndCountAlike) {
  FakeBackend backend(add_right);
  const auto device = backend.open().take();
  Runner runner(backend, *device);
  std::vector<KernelEntry> adds;
  for (int i = 0; i < 7; ++i) adds.push_back(entry_of<Add>(i % 2 ? "odd" : "even"));
  std::vector<const KernelEntry*> all;
  for (const KernelEntry& e : adds) all.push_back(&e);
  const TestTotals one = run_tests(runner, all, {}, {});
  for (const int jobs : {1, 3}) {
    std::size_t opened = 0, before = 0, after = 0, last = 0;
    std::mutex mutex;
    const auto open = [&] {
      const std::lock_guard lock(mutex);
      ++opened;
      return backend.open().take();
    };
    const TestObserver observer{[&](const KernelEntry&, const Problem&, std::size_t done, std::size_t total) {
                                  ++before;
                                  last = total;
                                  EXPECT_LT(done, total);
                                },
                                [&](const CaseResult& r) { after += r.passed ? 1 : 0; }};
    const TestTotals many = run_tests(backend, open, jobs, all, {}, observer);
    EXPECT_EQ(opened, static_cast<std::size_t>(jobs));
    EXPECT_EQ(many.cases, one.cases);
    EXPECT_EQ(many.compared, one.compared);
    EXPECT_EQ(many.kernels, 2);
    EXPECT_EQ(many.pairs, 7);
    EXPECT_EQ(before, static_cast<std::size_t>(one.cases));
    EXPECT_EQ(after, before);
    EXPECT_EQ(last, before);
  }
  const auto broken = []() -> std::unique_ptr<Device> { throw Error("no device"); };
  EXPECT_THROW(run_tests(backend, broken, 3, all, {}, {}), Error);
}

TEST(Harness, ADeviceErrorFailsTheCaseWithItsSentence) {
  const CaseResult r = run_fake([](const Arguments&, const Groups&) { throw Error("add.cpp:3: [add] a race"); });
  EXPECT_FALSE(r.passed);
  EXPECT_EQ(r.error, "add.cpp:3: [add] a race");
}

TEST(Harness, AProblemOfSizeZeroLaunchesNothing) {
  bool launched = false;
  const CaseResult r = run_fake([&](const Arguments&, const Groups&) { launched = true; }, 0);
  EXPECT_TRUE(r.passed) << r.error;
  EXPECT_TRUE(r.empty);
  EXPECT_EQ(r.compared, 0);
  EXPECT_FALSE(launched);
}

TEST(Harness, TotalsCountAndZeroChecksAreNoPass) {
  struct Nothing : Add {
    Problems tests() const { return {{{"n", 0}}}; }
  };
  FakeBackend backend(add_right);
  const auto device = backend.open().take();
  Runner runner(backend, *device);
  const KernelEntry add = entry_of<Add>("add"), nothing = entry_of<Nothing>("nothing");
  const TestTotals good = run_tests(runner, {&add}, {.derived = false}, {});
  EXPECT_EQ(good.exit_code(), 0);
  EXPECT_EQ(good.cases, 3);
  EXPECT_EQ(good.empty, 1);
  EXPECT_EQ(good.compared, 1001);
  EXPECT_GT(run_tests(runner, {&add}, {}, {}).cases, 10) << "with the derived ones";
  const TestTotals unchecked = run_tests(runner, {&add, &nothing}, {.derived = false}, {});
  EXPECT_EQ(unchecked.exit_code(), 3);
  ASSERT_EQ(unchecked.unchecked.size(), 1u);
  EXPECT_EQ(unchecked.unchecked[0], "nothing/f32");
  EXPECT_EQ(run_tests(runner, {}, {}, {}).exit_code(), 3);
}

TEST(Harness, ChangesAreLaidOverCasesAndEqualOnesRunOnce) {
  FakeBackend backend(add_right);
  const auto device = backend.open().take();
  Runner runner(backend, *device);
  const KernelEntry add = entry_of<Add>("add");
  const TestTotals t = run_tests(runner, {&add}, {.overrides = {}, .changes = {{"n", 77}}}, {});
  EXPECT_EQ(t.cases, 1);
  EXPECT_EQ(t.compared, 77);
}

TEST(Harness, JsonOfACase) {
  CaseResult r;
  r.kernel = "add";
  r.dtype = "f32";
  r.problem = "n:5";
  r.device = "fake";
  r.passed = true;
  r.compared = 5;
  r.bound = 0.5;
  EXPECT_EQ(test_json(r), R"({"kernel":"add","dtype":"f32","case":"n:5","device":"fake","passed":true,"compared":5,)"
                          R"("max_error":0.0,"bound":0.5,"bound_used":0.0})");
  r.max_error = INFINITY;
  r.error = "bad \xff byte";
  EXPECT_NE(test_json(r).find("\"max_error\":null"), std::string::npos);
  EXPECT_NE(test_json(r).find("\"error\":"), std::string::npos);
}

}  // namespace
}  // namespace mt
