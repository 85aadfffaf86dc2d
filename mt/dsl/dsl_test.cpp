#include "mt/dsl/dsl.h"

#include <gtest/gtest.h>

#include "mt/ir/text.h"
#include "mt/ir/verify.h"

namespace mt {
namespace {

/// Traces `body` as a kernel with an input, an output and a size.
template <class F>
Kernel traced(F&& body) {
  Signature signature;
  const DeclareScope declare(signature);
  const In<f16> x{"x", {"rows", "n"}};
  const Out<f32> y{"y", {"rows", "n"}};
  const Size n{"n"};
  const Problem problem{{"rows", 3}, {"n", 12}};
  Trace scope(signature, problem, "k", 64, {});
  body(x, y, n);
  return scope.finish();
}

TEST(Dsl, TracesToASoundKernel) {
  const Kernel k = traced([](auto& x, auto& y, auto& n) {
    const auto in = x.row(group_id());
    const auto out = y.row(group_id());
    VecVar<f32> total(4, 0.f);
    for_row_(n, 4, n.multiple_of(4), [&](U32 i, int lanes) { out.store(i, in.load(i, lanes) * 2.f); });
    for_simds(n, [&](U32 i) { total += in.load(i, 4) * 0.5f; });
    while_([&] { return total[0] > 1.f; }, [&] { total = total - 1.f; });
    if_(lane_id() == 0, [&] { out.store(0, total[1]); }).else_([&] { out.store(1, group_max(0.f + total[0])); });
  });
  EXPECT_NE(verify(k).find("group_reduce"), std::string::npos) << "a group reduction under a lane condition is refused";
  const Kernel good = traced([](auto& x, auto& y, auto&) { y.store(thread_id(), x.load(thread_id()) + 1.f); });
  EXPECT_EQ(verify(good), "");
}

TEST(Dsl, AxesThatAreLeftOutHoldOneThreadgroup) {
  const Launch a{.groups = {5}, .threads = 32}, b{.groups = {5, 4}}, c;
  EXPECT_EQ(a.groups[0] * 100 + a.groups[1] * 10 + a.groups[2], 511);
  EXPECT_EQ(b.groups[0] * 100 + b.groups[1] * 10 + b.groups[2], 541);
  EXPECT_EQ(c.groups[0] * 100 + c.groups[1] * 10 + c.groups[2], 111);
}

TEST(Dsl, ValuesKnowTheirLine) {
  const Kernel k = traced([](auto& x, auto& y, auto&) {
    const F32 a = x.load(0);
    const int line = __LINE__ + 1;
    const F32 b = a + 1.5f;
    EXPECT_EQ(trace().kernel.def(b.id())->loc.line, line);
    EXPECT_NE(std::string(trace().kernel.def(b.id())->loc.file).find("dsl_test.cpp"), std::string::npos);
    y.store(0, exp(b));
    EXPECT_EQ(trace().kernel.insts.back().loc.line, __LINE__ - 1);
    y.at(thread_id()).store(0, x.at(2).load(1));  // the arithmetic of coordinates too
  });
  for (const Inst& i : k.insts)
    EXPECT_NE(std::string(i.loc.file).find("dsl_test.cpp"), std::string::npos)
        << info(i.op).name << " says " << to_string(i.loc);
}

TEST(Dsl, NotOfAValueOrAVarSaysTheLineOfItsOperand) {
  traced([](auto& x, auto& y, auto&) {
    const Bool positive = x.load(0) > 0.f;
    const int line = __LINE__ - 1;
    Var<bool> done(positive);
    for (const Bool& opposite : {!positive, !done}) {
      const Inst* made = trace().kernel.def(opposite.id());
      EXPECT_EQ(made->op, Op::Not);
      EXPECT_NE(std::string(made->loc.file).find("dsl_test.cpp"), std::string::npos);
      y.store(0, select(opposite, 1.f, F32(0.f)));
    }
    EXPECT_EQ(trace().kernel.def((!positive).id())->loc.line, line);
  });
}

TEST(Dsl, DivisibilityOfStridesIsAFact) {
  traced([](auto&, auto& y, auto& n) {
    EXPECT_TRUE(n.multiple_of(4));
    EXPECT_FALSE(n.multiple_of(8));
    y.store(0, 0.f);
  });
}

TEST(Dsl, UnusedParametersAreDropped) {
  const Kernel k = traced([](auto&, auto& y, auto&) { y.store(0, 1.f); });
  ASSERT_EQ(k.memories.size(), 1u);
  EXPECT_EQ(k.memories[0].name, "y");
  EXPECT_TRUE(k.scalars.empty());
}

TEST(Dsl, MistakesWhileTracingNameTheLine) {
  const auto message = [](auto body) {
    try {
      traced(body);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message([](auto& x, auto& y, auto&) {
              std::vector<F32> kept;
              if_(lane_id() == 0, [&] { kept.push_back(x.load(0) + 1.f); });
              y.store(0, kept[0]);
            }).find("has left its if_/for_ block"),
            std::string::npos);
  EXPECT_NE(message([](auto& x, auto& y, auto&) { y.store(0, x.load(0, 4) + x.load(0, 2)); }).find("one width"),
            std::string::npos);
  EXPECT_NE(message([](auto& x, auto& y, auto&) { y.store(0, x.load(0, 3)); }).find("1, 2, 4 or 8 lanes"),
            std::string::npos);
  EXPECT_NE(message([](auto& x, auto& y, auto&) { y.store(0, x.load(0, 4)[4]); }).find("lane 4 of a vector of 4"),
            std::string::npos);
  EXPECT_NE(message([](auto&, auto& y, auto&) { y.store(thread_id() - U32(-1), 0.f); }).find("-1 is not a u32"),
            std::string::npos);
  EXPECT_THROW(thread_id(), Error);
  EXPECT_THROW(Size("n"), Error);
}

}  // namespace
}  // namespace mt
