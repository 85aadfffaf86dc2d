#include "mt/harness/derived.h"

#include <gtest/gtest.h>

#include <set>

#include "mt/dsl/dsl.h"

namespace mt {
namespace {

struct Tiled {
  In<f32> x{"x", {"rows", "n"}};
  Out<f32> y{"y", {"rows", "n"}};
  Tunable tile{"tile", 8, {8, 16, 48}};
  void plan(const Problem&, TargetTraits traits) { tile = traits.gpu ? 48 : 16; }
  Launch launch(const Problem& p) const {
    require(p["n"] != 33, "n must not be 33");
    return {.groups = {p["rows"]}, .threads = 64};
  }
  void body() const {}
  ExpectedOutputs oracle(const Inputs&) const { return {}; }
  Problems tests() const { return {{{"rows", 0}, {"n", 7}}, {{"rows", 3}, {"n", 200}}, {{"rows", 3}, {"n", 5}}}; }
  Problems benches() const { return {}; }
  Work work(const Problem&) const { return {}; }
};
struct Words : Tiled {
  Words() { x.fill_with(Fill::bits()); }
};

template <class K>
std::set<std::string> derived(TargetTraits traits, const Overrides& overrides = {}) {
  detail::Erased<K> tiled("tiled", detail::AsDeclared{});
  KernelInstance& kernel = tiled;
  std::set<std::string> texts;
  for (const Problem& p : derived_cases(kernel, traits, overrides)) {
    EXPECT_TRUE(texts.insert(p.text()).second) << p.text() << " twice";
    EXPECT_NO_THROW(kernel.plan(p, traits)) << p.text();
  }
  for (const Problem& p : kernel.tests()) EXPECT_EQ(texts.count(p.text()), 0u) << p.text() << " is the kernel's own";
  return texts;
}

TEST(Derived, SizesLieAroundEveryCountOfThePlan) {
  const auto gpu = derived<Tiled>({.gpu = true}), cpu = derived<Tiled>({.gpu = false});
  for (const int n : {47, 48, 49, 95, 97, 63, 64, 127, 129, 31, 32})
    EXPECT_EQ(gpu.count("n:" + std::to_string(n) + "/rows:3"), 1u) << n;
  for (const int rows : {47, 48, 49, 65}) EXPECT_EQ(gpu.count("n:200/rows:" + std::to_string(rows)), 1u) << rows;
  EXPECT_EQ(gpu.count("n:15/rows:3"), 0u);
  EXPECT_EQ(cpu.count("n:15/rows:3"), 1u) << "the plan for a CPU has another tile";
  EXPECT_EQ(derived<Tiled>({.gpu = true}, {{"tile", 16}}).count("n:15/rows:3"), 1u) << "a chosen tile";
}

TEST(Derived, WhatTheContractRefusesIsLeftOut) {
  EXPECT_EQ(derived<Tiled>({}).count("n:33/rows:3"), 0u);
  EXPECT_EQ(derived<Tiled>({}).count("n:31/rows:3"), 1u);
}

TEST(Derived, PatternsOfValuesWhereAnInputTakesThem) {
  const auto with = derived<Tiled>({}), without = derived<Words>({});
  for (const char* name : {"zeros", "equal", "tiny", "large", "alternating", "spike"}) {
    EXPECT_EQ(with.count(std::string("n:200/rows:3/values:") + name), 1u) << name;
    EXPECT_EQ(without.count(std::string("n:200/rows:3/values:") + name), 0u) << name;
  }
}

}  // namespace
}  // namespace mt
