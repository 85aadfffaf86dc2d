#include "mt/passes/pipeline.h"

#include <algorithm>
#include <set>

#include "mt/passes/testing.h"

namespace mt {
namespace {

/// Softmax-like: variables, both kinds of loops, a group reduction, unrolled neighbours, widened indices.
const char* const kKernel = R"(
    %row: u32 = group_id 0
    %row64: u64 = cast %row
    %n32: u32 = param %n
    %n64: u64 = cast %n32
    %base: u64 = mul %row64, %n64
    %lane: u32 = lane_id
    %sg: u32 = simd_id
    %thread: u32 = thread_id
    %4: u32 = const 4
    %begin: u32 = mul %thread, %4
    %step: u32 = const 256
    %0f: f32 = const 0
    %sum: f32 = var %0f
    for %t: u32 = %begin to %n32 step %step {
      %1: u32 = const 1
      %i0: u32 = add %t, %1
      %i1: u64 = cast %i0
      %i2: u64 = add %base, %i1
      %t64: u64 = cast %t
      %i3: u64 = add %base, %t64
      %a: f32 = load %x[%i3]
      %b: f32 = load %x[%i2]
      %c: f32 = add %a, %b
      %s0: f32 = get %sum
      %s1: f32 = add %s0, %c
      set %sum, %s1
      store %y[%i3], %a
      store %y[%i2], %b
    }
    %s2: f32 = get %sum
    %s3: f32 = group_reduce sum %s2
    %two: u32 = const 2
    %count: u32 = var %n32
    for %q: u32 = %sg to %n32 step %two contiguous {
      %old: u32 = get %count
      %neg: u32 = bit_not %old
      set %count, %neg
    }
    %s4: f32 = group_reduce max %s3
    %c0: u32 = const 0
    %first: bool = eq %thread, %c0
    if %first {
      %row2: u32 = group_id 0
      %seen: u32 = get %count
      store %o[%row2], %seen
      store %y[%row64], %s4
    })";

Kernel optimised(const PipelineOptions& options) {
  Kernel k = parsed(with_body(kKernel));
  optimise(k, options);
  return k;
}

TEST(Pipeline, EveryPassIsNamedAndDescribed) {
  std::set<std::string_view> names;
  for (const Pass& p : pipeline()) {
    EXPECT_FALSE(p.name.empty());
    EXPECT_FALSE(p.what.empty());
    ASSERT_NE(p.run, nullptr);
    names.insert(p.name);
  }
  EXPECT_EQ(names.size(), 12u);
  EXPECT_EQ(pipeline().front().name, "mem2reg");
  EXPECT_EQ(pipeline().back().name, "canonical");
}

TEST(Pipeline, LeavesNoVariablesFlagsOrGroupReductions) {
  const std::string text = print(optimised({.contiguous_simds = true}));
  for (const char* gone : {" var ", " get ", "set %", "contiguous", "group_reduce sum"})
    EXPECT_EQ(text.find(gone), std::string::npos) << text;
  EXPECT_NE(text.find("f32x2 = load %x"), std::string::npos) << text;
  EXPECT_NE(text.find("store %y[%"), std::string::npos) << text;
}

TEST(Pipeline, TheSecondRunChangesNothing) {
  for (const PipelineOptions& o :
       {PipelineOptions{}, PipelineOptions{.contiguous_simds = true}, PipelineOptions{.lower_group_reduce = false}}) {
    Kernel k = optimised(o);
    const std::string once = print(k);
    optimise(k, o);
    EXPECT_EQ(print(k), once);
  }
}

TEST(Pipeline, TheObserverSeesEveryPassAndASoundKernel) {
  Kernel k = parsed(with_body(kKernel));
  std::size_t seen = 0;
  std::string before = print(k);
  optimise(k, {}, [&](const Pass& pass, bool changed, double seconds, const Kernel& now) {
    EXPECT_EQ(pass.name, pipeline()[seen++].name);
    EXPECT_GE(seconds, 0);
    EXPECT_EQ(verify(now), "") << pass.name;
    EXPECT_TRUE(changed || print(now) == before) << pass.name;
    before = print(now);
  });
  EXPECT_EQ(seen, pipeline().size());
}

TEST(Pipeline, AKernelThatNeverStoresIsTheAuthorsMistake) {
  Kernel k =
      parsed(with_body("%z: u32 = const 0\n%t: u32 = thread_id\n%never: bool = lt %t, %z\n"
                       "if %never {\n%v: f32 = load %x[%t]\nstore %y[%t], %v\n}\n"));
  try {
    optimise(k, {});
    FAIL() << print(k);
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find("[k] no store can ever run"), 0u) << e.what();
  }
}

TEST(Pipeline, ThousandsOfInstructionsAreNoTrouble) {
  std::string body = "%z: u32 = param %n\n%v0: f32 = load %x[%z]\n%c0: u32 = const 1\n%b: bool = lt %z, %c0\n";
  for (int i = 0; i < 3000; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    body += "%c" + next + ": u32 = add %c" + n + ", %z\n%l" + n + ": f32 = load %x[%c" + next + "]\n%v" + next +
            ": f32 = mul %v" + n + ", %l" + n + "\n";
    if (i % 10 == 0) body += "store %y[%c" + next + "], %v" + next + "\n";
  }
  Kernel k = parsed(with_body(body));
  double seconds = 0;
  optimise(k, {.verify_each = false}, [&](const Pass&, bool, double s, const Kernel&) { seconds += s; });
  EXPECT_LT(seconds, 30.0) << "some 0.05 s on an idle machine, 6 s with sanitizers";
  RecordProperty("seconds", std::to_string(seconds));
}

}  // namespace
}  // namespace mt
