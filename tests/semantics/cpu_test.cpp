// Random kernels compute the same on the cpu backend as on the reference executor, bit for bit.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "mt/ir/text.h"
#include "mt/passes/pipeline.h"
#include "tests/semantics/outcome.h"
#include "tests/semantics/random_kernel.h"

namespace mt {
namespace {

/// Seeds of one run; MT_RANDOM_SEEDS=first:count asks for others.
std::pair<std::uint64_t, std::uint64_t> seeds() {
  const char* set = std::getenv("MT_RANDOM_SEEDS");
  if (!set) return {1'000'000, 60};
  char* colon = nullptr;
  const std::uint64_t first = std::strtoull(set, &colon, 10);
  return {first, *colon == ':' ? std::strtoull(colon + 1, nullptr, 10) : 1};
}

/// Leaves the user's cache of compiled kernels alone.
class OwnCache : public testing::Environment {
  void SetUp() override {
    if (std::getenv("MT_CACHE_DIR")) return;
    char name[] = "/tmp/mt_semantics_XXXXXX";
    folder_ = mkdtemp(name);
    setenv("MT_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string folder_;
};
[[maybe_unused]] const auto* const kOwnCache = testing::AddGlobalTestEnvironment(new OwnCache);

TEST(CpuSemantics, RandomKernelsComputeWhatTheReferenceDoes) {
  const Backend& cpu = *find_backend("cpu");
  const auto [first, count] = seeds();
  std::uint64_t ran = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = random_kernel(seed);
    const Result<Kernel> parsed = parse(text);
    ASSERT_TRUE(parsed) << parsed.error().what() << "\n" << text;
    const Outcome want = run_random(*parsed, seed, "interp");
    if (!want.error.empty()) continue;
    ++ran;
    Kernel k = *parsed;
    optimise(k, cpu.pipeline());
    EXPECT_EQ(difference(want, run_random(k, seed, "cpu")), "") << "seed " << seed << "\n" << print(k);
  }
  EXPECT_GT(2 * ran, count) << "random kernels are refused by the reference executor";
}

}  // namespace
}  // namespace mt
