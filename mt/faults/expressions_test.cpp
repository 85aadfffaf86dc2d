#include "mt/faults/expressions.h"

#include <gtest/gtest.h>

#include <map>

#include "mt/ir/text.h"

namespace mt {
namespace {

/// y[i] = x[i] * 2 + x[i] for `copies` elements of a thread, each from the same two lines.
std::string unrolled(int copies, const char* factor = "2.0") {
  std::string s =
      "kernel @k threads 32 {\n  device in %x: f32 [n]\n  device out %y: f32 [n]\n\n"
      "  %t: u32 = thread_id ; k.cpp:1\n";
  for (int i = 0; i < copies; ++i) {
    const std::string n = std::to_string(i);
    s += "  %c" + n + ": u32 = const " + std::to_string(32 * i) + " ; k.cpp:2\n";
    s += "  %i" + n + ": u32 = add %t, %c" + n + " ; k.cpp:2\n";
    s += "  %x" + n + ": f32 = load %x[%i" + n + "] ; k.cpp:3\n";
    s += "  %f" + n + ": f32 = const " + factor + " ; k.cpp:3\n";
    s += "  %p" + n + ": f32 = mul %x" + n + ", %f" + n + " ; k.cpp:3\n";
    s += "  %s" + n + ": f32 = add %p" + n + ", %x" + n + " ; k.cpp:3\n";
    s += "  store %y[%i" + n + "], %s" + n + " ; k.cpp:4\n";
  }
  return s + "}\n";
}

std::vector<Expression> of(const std::string& text) {
  Result<Kernel> k = parse(text);
  if (!k) throw k.error();
  return expressions(*k);
}

TEST(Expressions, CopiesOfAnUnrolledLoopAreOneExpression) {
  const std::vector<Expression> one = of(unrolled(1)), four = of(unrolled(4));
  ASSERT_EQ(one.size(), 8u);
  ASSERT_EQ(four.size(), one.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].key, four[i].key);
    EXPECT_EQ(one[i].insts.size(), 1u);
    EXPECT_EQ(four[i].insts.size(), i == 0 ? 1u : 4u);
  }
}

TEST(Expressions, OpsOfOneLineAreToldApart) {
  std::map<std::uint64_t, int> keys;
  for (const Expression& e : of(unrolled(2))) EXPECT_EQ(++keys[e.key], 1) << info(e.op).name;
}

TEST(Expressions, VectorsAndSingleElementsAreToldApart) {
  const char* text = R"(kernel @k threads 32 {
  device in %x: f32 [n]
  device out %y: f32 [n]

  %t: u32 = thread_id ; k.cpp:1
  %a: f32x4 = load %x[%t] ; k.cpp:2
  store %y[%t], %a ; k.cpp:3
  %b: f32 = load %x[%t] ; k.cpp:2
  store %y[%t], %b ; k.cpp:3
}
)";
  const std::vector<Expression> all = of(text);
  EXPECT_EQ(all.size(), 4u);  // the stores are one: they have no result to differ by
}

TEST(Expressions, PlaceInControlFlowTellsApart) {
  const char* text = R"(kernel @k threads 32 {
  device out %y: u32 [n]

  %t: u32 = thread_id ; k.cpp:1
  %c: bool = const true ; k.cpp:1
  if %c {
    store %y[%t], %t ; k.cpp:2
  } else {
    store %y[%t], %t ; k.cpp:2
  }
}
)";
  EXPECT_EQ(of(text).size(), 5u);
}

}  // namespace
}  // namespace mt
