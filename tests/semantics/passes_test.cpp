// What passes make of a kernel computes the same, bit for bit, on the reference executor.
#include <gtest/gtest.h>

#include "mt/ir/text.h"
#include "mt/ir/verify.h"
#include "mt/passes/pipeline.h"
#include "tests/semantics/outcome.h"
#include "tests/semantics/random_kernel.h"

namespace mt {
namespace {

constexpr std::uint64_t kSeeds = 20;  // kernels of one test

class PassSemantics : public testing::TestWithParam<int> {};

TEST_P(PassSemantics, EveryPassKeepsTheResults) {
  const PipelineOptions all[] = {{}, {.contiguous_simds = true}, {.lower_group_reduce = false, .max_vector_bytes = 8}};
  int ran = 0;
  for (std::uint64_t n = 0; n < kSeeds; ++n) {
    const std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * kSeeds + n;
    const std::string text = random_kernel(seed);
    const Result<Kernel> parsed = parse(text);
    ASSERT_TRUE(parsed) << parsed.error().what() << "\n" << text;
    const Outcome want = run_random(*parsed, seed, "interp");
    if (!want.error.empty()) continue;
    ++ran;
    for (const PipelineOptions& options : all) {
      Kernel k = *parsed;
      std::string before = print(k), broken;
      optimise(k, options, [&](const Pass& pass, bool, double, const Kernel& now) {
        if (!broken.empty()) return;
        const std::string text_now = print(now);
        if (text_now == before) return;
        const std::string differs = difference(want, run_random(now, seed, "interp"));
        if (!differs.empty())
          broken = std::string(pass.name) + ": " + differs + "\nbefore\n" + before + "after\n" + text_now;
        before = text_now;
      });
      ASSERT_EQ(broken, "") << "seed " << seed;
      optimise(k, options);
      EXPECT_TRUE(print(k) == before) << "a second run changed it, seed " << seed;
    }
  }
  EXPECT_GT(ran, 10) << "random kernels are refused by the reference executor";
}

INSTANTIATE_TEST_SUITE_P(Seeds, PassSemantics, testing::Range(0, 10));

}  // namespace
}  // namespace mt
