// Products of teams in the text form, and what the verifier says of them.
#include <gtest/gtest.h>

#include "mt/ir/text.h"
#include "mt/ir/verify.h"

namespace mt {
namespace {

const char* const kTeams = R"(kernel @teams threads 128 {
  device out %y: f32 [n]
  threadgroup %s: bf16 [8192] swizzled
  threadgroup %t: bf16 [8192] panels

  %zero: u32 = const 0
  %rows: u32 = const 1024
  %f0: f32 = const 0.0
  %lane: u32 = lane_id
  %simd: u32 = simd_id
  %own: u32 = mul %simd, %rows
  %a: bf16x8 = load_matrix %s[%zero]
  %c: f32x4 = splat %f0
  %p: f32x4, %q: f32x4 = mma_team %s[%zero], %a, %c, %c transposed of 1
  %p1: f32x4, %q1: f32x4 = for %i: u32 = %zero to %rows step %rows with (%v: f32x4 = %p, %w: f32x4 = %q) {
    mma_fence
    barrier
    %v1: f32x4, %w1: f32x4 = mma_team %s[%zero] by %t[%own], %v, %w of 1
    mma_wait 1
    yield %v1, %w1
  }
  %p2: f32x4, %q2: f32x4 = mma_wait 0, %a, %p1, %q1
  %x: f32 = extract %p2, 0
  store %y[%lane], %x
}
)";

std::string said(const std::string& from, const std::string& to) {
  std::string text = kTeams;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  const Result<Kernel> k = parse(text.replace(at, from.size(), to));
  if (k) return "";
  const std::string what = k.error().what();
  const std::size_t name = what.find("[teams] ");
  return name == std::string::npos ? what : what.substr(name + 8);
}

TEST(Teams, PrintAndParseBackToTheSame) {
  const Kernel k = parse(kTeams).take();
  EXPECT_EQ(print(k), kTeams);
  EXPECT_EQ(verify(k), "");
}

TEST(Teams, OperandsAndResults) {
  EXPECT_EQ(said("%s: bf16 [8192] swizzled", "%s: bf16 [8192]"), "mma_team takes an rhs that lies in panels");
  EXPECT_EQ(said("%t: bf16 [8192] panels", "%t: bf16 [8192]"),
            "mma_team takes an lhs in panels of the rhs's dtype, from one row of a panel");
  EXPECT_EQ(said("%t: bf16 [8192] panels", "%t: f16 [8192] panels"),
            "mma_team takes an lhs in panels of the rhs's dtype, from one row of a panel");
  EXPECT_EQ(said("%s: bf16 [8192] swizzled", "%s: bf16 [8200] swizzled"),
            "'s' lies in panels, which are of threadgroup memory, elements of 16 bits and whole groups of 8 rows");
  EXPECT_EQ(said("threads 128", "threads 64"), "mma_team takes four simdgroups, or a multiple of that");
  EXPECT_EQ(said("%c, %c transposed of 1", "%c, %c transposed of 2"),
            "mma_team takes an index, lhs blocks of whole rows and as many acc blocks as it gives");
  EXPECT_EQ(said("%a, %c, %c transposed", "%c, %c, %c transposed"),
            "an lhs block of mma_team is not of mma16 and the rhs's dtype");
  EXPECT_EQ(said("%v, %w of 1", "%v, %w of 5"),
            "mma_team takes an lhs in panels of the rhs's dtype, from one row of a panel");
  EXPECT_EQ(said("mma_wait 0, %a, %p1, %q1", "mma_wait 0, %q1"), "mma_wait gives no more blocks than it takes");
}

TEST(Teams, AllSimdgroupsMultiplyByOneOperand) {
  EXPECT_EQ(said("mma_team %s[%zero], %a", "mma_team %s[%own], %a"),
            "mma_team is reached by all simdgroups together, with one operand for all");
}

TEST(Teams, SumsThatStillRunAreUsedByFurtherProductsAlone) {
  EXPECT_EQ(said("extract %p2, 0", "extract %p1, 0"),
            "extract uses the sum of a product that may still run; mma_wait gives it");
  EXPECT_EQ(said("extract %p2, 0", "extract %q, 0"),
            "extract uses the sum of a product that may still run; mma_wait gives it");
  EXPECT_EQ(said("    mma_wait 1\n", "    mma_wait 1\n    %bad: f32 = extract %v, 0\n    store %y[%lane], %bad\n"),
            "extract uses the sum of a product that may still run; mma_wait gives it");
}

}  // namespace
}  // namespace mt
