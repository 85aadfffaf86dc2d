// What `tile check --passes` finds: passes that change results, lose stores or leave what the reference device refuses.
#include <gtest/gtest.h>

#include <algorithm>

#include "mt/harness/pass_check.h"
#include "mt/ir/edit.h"
#include "mt/ir/text.h"

namespace mt {
namespace {

Kernel kernel_of(const std::string& body) {
  return parse(
             "kernel @k threads 32 {\n device in %x: f32 [32]\n device out %y: f32 [32]\n scalar %n: u32\n"
             " %i: u32 = lane_id\n %n: u32 = param %n\n %a: f32 = load %x[%i]\n" +
             body + "\n}\n")
      .take();
}

TEST(LostStore, IsOneWhoseControlFlowStays) {
  const Kernel two =
      kernel_of("%c: bool = lt %i, %n\nif %c {\nstore %y[%i], %a ; k.cpp:1\n}\nstore %y[%i], %a ; k.cpp:2");
  const Kernel first_gone = kernel_of("%c: bool = lt %i, %n\nif %c {\n}\nstore %y[%i], %a ; k.cpp:2");
  const Kernel if_gone = kernel_of("store %y[%i], %a ; k.cpp:2");
  const Kernel last_gone = kernel_of("%c: bool = lt %i, %n\nif %c {\nstore %y[%i], %a ; k.cpp:1\n}");
  EXPECT_EQ(lost_store(two, two), "");
  EXPECT_EQ(lost_store(two, if_gone), "") << "its if went too";
  EXPECT_EQ(lost_store(two, last_gone), "k.cpp:2: [k] the store to y went, while the control flow around it stays");
  EXPECT_NE(lost_store(two, first_gone).find("the store to y went"), std::string::npos);
}

TEST(LostStore, WiderStoresHoldWhatTheyReplace) {
  const std::string index = "%z: u32 = const 0\n%o: u32 = const 1\n";
  const Kernel narrow = kernel_of(index + "store %y[%z], %a ; k.cpp:1\nstore %y[%o], %a ; k.cpp:2");
  const Kernel wide = kernel_of(index + "%v: f32x2 = pack %a, %a\nstore %y[%z], %v ; k.cpp:1");
  const Kernel half = kernel_of(index + "store %y[%z], %a ; k.cpp:1");
  EXPECT_EQ(lost_store(narrow, wide), "");
  EXPECT_NE(lost_store(narrow, half), "");
}

TEST(LostStore, ABodyWithoutStoresIsNamed) {
  const Kernel one = kernel_of("store %y[%i], %a");
  Kernel none = one;
  none.at(RegionId::Root).insts.pop_back();
  EXPECT_EQ(lost_store(one, none), "[k] stores nothing any more");
}

/// A kernel of the registry with its steps, one of which the test spoils.
class Spoiled : public testing::Test {
 protected:
  void SetUp() override {
    const auto& all = kernels();
    const auto it =
        std::find_if(all.begin(), all.end(), [](const KernelEntry& e) { return e.id() == "mt_softmax/f32"; });
    ASSERT_NE(it, all.end());
    entry_ = &*it;
    problem_ = Problem{{"rows", 3}, {"n", 1000}};
    stages_ = inspect_kernel(*entry_, target(), problem_, {});
    reference_ = {find_backend("interp"), find_backend("interp")->open().take()};
  }
  static const Backend& target() { return *find_backend("interp"); }
  PassCheckResult check() { return check_steps(*entry_, problem_, {}, target(), stages_, reference_); }
  /// The kernel after that pass, which from there on is never changed again.
  Kernel& after(const std::string& pass) {
    auto& steps = stages_.front().steps;
    const auto it = std::find_if(steps.rbegin(), steps.rend(), [&](const Step& s) { return s.pass == pass; });
    it->changed = true;
    return it->kernel;
  }

  const KernelEntry* entry_ = nullptr;
  Problem problem_;
  std::vector<InspectedStage> stages_;
  OpenDevice reference_;
};

TEST_F(Spoiled, NothingIsFoundWhereNothingIsWrong) {
  const PassCheckResult r = check();
  EXPECT_TRUE(r.passed()) << r.error;
  EXPECT_GT(r.executed, 4);
  EXPECT_EQ(r.compared, r.executed * 3 * 1000);
}

TEST_F(Spoiled, AnotherResultNamesThePass) {
  Kernel& k = after("licm");
  bool spoiled = false;
  walk(k, RegionId::Root, [&](InstId i) {
    if (k.at(i).op != Op::Exp || spoiled) return;
    k.at(i).op = Op::Exp2;
    spoiled = true;
  });
  ASSERT_TRUE(spoiled);
  const PassCheckResult r = check();
  EXPECT_EQ(r.pass, "licm");
  EXPECT_NE(r.error.find("before the pass and is"), std::string::npos) << r.error;
}

TEST_F(Spoiled, ALostStoreNamesThePassAndThePlace) {
  Kernel& k = after("drop_barriers");
  for (Region& region : k.regions)
    std::erase_if(region.insts,
                  [&](InstId i) { return k.at(i).op == Op::Store && k.at(k.at(i).memory).space == Space::Device; });
  const PassCheckResult r = check();
  EXPECT_EQ(r.pass, "drop_barriers");
  EXPECT_NE(r.error.find("stores nothing any more"), std::string::npos) << r.error;
}

TEST_F(Spoiled, WhatTheReferenceRefusesNamesThePass) {
  Kernel& k = after("canonical");
  for (Region& region : k.regions) std::erase_if(region.insts, [&](InstId i) { return k.at(i).op == Op::Barrier; });
  const PassCheckResult r = check();
  EXPECT_EQ(r.pass, "canonical");
  EXPECT_NE(r.error.find("race"), std::string::npos) << r.error;
}

}  // namespace
}  // namespace mt
