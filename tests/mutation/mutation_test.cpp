// The mutation run on small kernels of its own: what the tests of a kernel see, what they miss, and what is reported.
#include <gtest/gtest.h>

#include <algorithm>

#include "mt/dsl/dsl.h"
#include "mt/harness/mutate.h"
#include "mt/harness/mutation_report.h"

namespace mt {
namespace {

/// out = 2 a + 1 for n elements.
struct Scale {
  In<f32> a{"a", {"n"}};
  Out<f32> out{"out", {"n"}};
  Size n{"n"};

  Launch launch(const Problem& p) const { return {.groups = {map_groups(p["n"], 1, 64)}, .threads = 64}; }
  void body() const {
    const U32 i = group_id() * 64 + thread_id();
    if_(i < n, [&] { out.store(i, a.load(i) * 2.f + 1.f); });
  }
  ExpectedOutputs oracle(const Inputs& in) const {
    Expected e;
    for (std::int64_t i = 0; i < in.size("n"); ++i) {
      e.value.push_back(2 * in["a"].at(i) + 1);
      e.bound.push_back(1e-6 * std::abs(in["a"].at(i)) + 1e-6);
    }
    return {{"out", e}};
  }
  Problems tests() const { return over(Problem{}, "n", {1, 64, 200}); }
  Problems benches() const { return {{{"n", 4096}}}; }
  Work work(const Problem&) const { return {}; }
};
/// No case has a ragged end or a second threadgroup, nor can one follow from others.
struct OneGroup : Scale {
  Launch launch(const Problem& p) const {
    require(p["n"] == 64, "n must be 64");
    return Scale::launch(p);
  }
  Problems tests() const { return {{{"n", 64}}}; }
};
/// The bound is so wide that nothing is wrong.
struct Loose : Scale {
  ExpectedOutputs oracle(const Inputs& in) const {
    ExpectedOutputs e = Scale::oracle(in);
    for (double& b : e["out"].bound) b = 1e30;
    return e;
  }
};
/// Something that is done for nothing.
struct Idle : Scale {
  void body() const {
    const U32 i = group_id() * 64 + thread_id();
    const F32 bounded = min(a.load(min(i, n - 1)), std::numeric_limits<float>::max());
    if_(i < n, [&] { out.store(i, bounded * 2.f + 1.f); });
  }
};
/// Wrong as it stands.
struct Wrong : Scale {
  void body() const {
    const U32 i = group_id() * 64 + thread_id();
    if_(i < n, [&] { out.store(i, a.load(i) * 2.f); });
  }
};

template <class K>
KernelEntry entry_of(const std::string& name) {
  return {name, DType::F32, {}, [name] { return std::make_unique<detail::Erased<K>>(name, detail::AsDeclared{}); }};
}

template <class K>
std::vector<Mutant> run(MutateOptions options = {}) {
  static const KernelEntry entry = entry_of<K>("scale");
  options.open = [] { return open_device("interp"); };
  return mutate({&entry}, options);
}

std::vector<std::string> survivors(const std::vector<Mutant>& all) {
  std::vector<std::string> names;
  for (const Mutant& m : all)
    if (m.fate == Fate::Survived) names.push_back(std::string(info(m.op).name) + " " + std::string(m.fault->name));
  return names;
}
bool holds(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

TEST(Mutation, GoodTestsKillEverything) {
  const std::vector<Mutant> all = run<Scale>();
  EXPECT_GT(all.size(), 25u);
  EXPECT_EQ(survivors(all), std::vector<std::string>{});
  MutationTotals totals;
  for (const Mutant& m : all) totals.count(m);
  EXPECT_EQ(totals.exit_code(), 0);
  EXPECT_EQ(totals.killed, totals.planted);
}

TEST(Mutation, AMissingCaseLetsItsFaultsSurvive) {
  const auto left = survivors(run<OneGroup>());
  EXPECT_TRUE(holds(left, "if always")) << testing::PrintToString(left);
  EXPECT_TRUE(holds(left, "group_id zero_id")) << testing::PrintToString(left);
}

TEST(Mutation, ABoundThatAllowsAllLetsFaultsSurvive) {
  const auto left = survivors(run<Loose>());
  EXPECT_TRUE(holds(left, "mul first_operand")) << testing::PrintToString(left);
  EXPECT_FALSE(holds(left, "store drop_store"));  // poison is no number of any size
}

TEST(Mutation, WorkForNothingShows) {
  const auto left = survivors(run<Idle>());
  EXPECT_TRUE(holds(left, "min first_operand")) << testing::PrintToString(left);
}

TEST(Mutation, AKernelThatIsWrongByItselfIsAnError) {
  try {
    run<Wrong>();
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("[scale/f32] case n:1 fails without any fault: out: "), std::string::npos)
        << e.what();
  }
}

TEST(Mutation, SamplesAndWorkersGiveTheSameMutants) {
  const auto ids = [](const std::vector<Mutant>& all) {
    std::vector<std::string> list;
    for (const Mutant& m : all) list.push_back(m.id());
    return list;
  };
  const auto one = ids(run<Scale>({.sample = 9, .seed = 5}));
  EXPECT_EQ(one.size(), 9u);
  EXPECT_EQ(one, ids(run<Scale>({.sample = 9, .seed = 5, .jobs = 3})));
  EXPECT_NE(one, ids(run<Scale>({.sample = 9, .seed = 6})));
}

TEST(Mutation, OneFaultOnly) {
  const std::vector<Mutant> all = run<Scale>({.faults = {find_fault("swap_operands")}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].op, Op::Lt);
  EXPECT_EQ(all[0].fate, Fate::Killed);
  EXPECT_EQ(all[0].id().find("scale/f32 mutation_test.cpp:"), 0u) << all[0].id();
  EXPECT_NE(all[0].before.find("lt %"), std::string::npos);
  EXPECT_NE(all[0].before, all[0].after);
  EXPECT_EQ(all[0].by.find("n:"), 0u) << all[0].by;
}

TEST(Mutation, TotalsFailOnSurvivorsStaleDeclarationsAndNothing) {
  const std::vector<Mutant> all = run<OneGroup>();
  MutationTotals some, none, good;
  for (const Mutant& m : all) {
    some.count(m);
    if (m.fate == Fate::Killed) good.count(m);
  }
  EXPECT_EQ(some.exit_code(), 1);
  EXPECT_EQ(none.exit_code(), 3);
  EXPECT_EQ(good.exit_code(), 0);
  good.stale.push_back("k.cpp:1: no mutant survives");
  EXPECT_EQ(good.exit_code(), 1);
  const std::string summary = mutation_summary_json(all, some);
  EXPECT_NE(summary.find("if always"), std::string::npos) << summary;
  EXPECT_NE(mutation_markdown(all, some).find("| `always`"), std::string::npos) << mutation_markdown(all, some);
}

}  // namespace
}  // namespace mt
