// Random kernels compute the same after every pass and on the cpu backend as on the reference device, bit for bit; and
// what a wrong pass does to them is found.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "mt/ir/text.h"
#include "mt/ir/verify.h"
#include "tests/own_cache.h"
#include "tests/semantics/differential.h"
#include "tests/semantics/planted_passes.h"
#include "tests/semantics/random_kernel.h"
#include "tests/semantics/shrink.h"

namespace mt {
namespace {

using Verdict = Differential::Verdict;

Kernel random_kernel_of(std::uint64_t seed) {
  const std::string text = random_kernel(seed);
  Result<Kernel> parsed = parse(text);
  if (!parsed) ADD_FAILURE() << "seed " << seed << ": " << parsed.error().what() << "\n" << text;
  return parsed.take();
}

void expect_same(Differential& compare, std::uint64_t first, std::uint64_t count) {
  std::uint64_t ran = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Kernel kernel = random_kernel_of(seed);
    const Differential::Result r = compare.run(kernel, seed);
    ran += r.verdict != Verdict::Refused;
    EXPECT_NE(r.verdict, Verdict::Differs) << "seed " << seed << ": " << r.mismatch.where << ": " << r.mismatch.what
                                           << "\nrandom_kernels --seed " << seed << " --count 1 shrinks it";
  }
  EXPECT_GT(2 * ran, count) << "random kernels are refused by the reference device";
}

class PassSemantics : public testing::TestWithParam<int> {};

TEST_P(PassSemantics, EveryPassKeepsTheResults) {
  Differential compare({});
  expect_same(compare, static_cast<std::uint64_t>(GetParam()) * 20, 20);
}
INSTANTIATE_TEST_SUITE_P(Seeds, PassSemantics, testing::Range(0, 10));

#ifdef MT_HAS_LLVM
TEST(CpuSemantics, RandomKernelsComputeWhatTheReferenceDoes) {
  Differential compare({.passes = false, .cpu = true});
  expect_same(compare, 1'000'000, 60);
}
#endif

TEST(RandomKernels, ASeedAlwaysGivesTheSameKernel) {
  EXPECT_EQ(random_kernel(7), random_kernel(7));
  EXPECT_NE(random_kernel(7), random_kernel(8));
}

class PlantedPass : public testing::TestWithParam<Pass> {};

/// Within a minute, and shrunk to a few instructions that still show it.
TEST_P(PlantedPass, IsFoundAndShrunk) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  Differential compare({.planted = GetParam()});
  for (std::uint64_t seed = 0; seconds() < 60; ++seed) {
    const Kernel kernel = random_kernel_of(seed);
    const Differential::Result r = compare.run(kernel, seed);
    if (r.verdict != Verdict::Differs) continue;
    EXPECT_EQ(r.mismatch.where.rfind("pass planted", 0), 0u) << r.mismatch.where;
    std::printf("seed %d after %.1f s: %s\n", static_cast<int>(seed), seconds(), r.mismatch.what.c_str());
    const auto fails = [&](const Kernel& k) {
      const Differential::Result again = compare.run(k, seed);
      return again.verdict == Verdict::Differs && again.mismatch.like(r.mismatch);
    };
    const Kernel small = shrink(kernel, fails, 20);
    const Result<Kernel> again = parse(print(small));
    ASSERT_TRUE(again) << again.error().what();
    EXPECT_TRUE(fails(*again));
    EXPECT_LE(instructions(small), 40u) << print(small);
    EXPECT_LT(instructions(small), instructions(kernel) / 2);
    std::printf("%d of %d instructions left\n", static_cast<int>(instructions(small)),
                static_cast<int>(instructions(kernel)));
    return;
  }
  FAIL() << "not found within a minute";
}
INSTANTIATE_TEST_SUITE_P(All, PlantedPass, testing::ValuesIn(planted_passes()), [](const auto& p) {
  const std::string what(p.param.what);
  return what.substr(0, what.find(':'));
});

}  // namespace
}  // namespace mt
