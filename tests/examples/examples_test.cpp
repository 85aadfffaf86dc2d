// The kernels of examples/ are right: documentation that is compiled and run.
#include <gtest/gtest.h>

#include "mt/harness/test_case.h"

namespace mt {
namespace {

TEST(Examples, EveryCaseAgreesWithItsOracle) {
  const Backend* interp = find_backend("interp");
  ASSERT_NE(interp, nullptr);
  const auto device = interp->open().take();
  Runner runner(*interp, *device);
  ASSERT_FALSE(kernels().empty());
  std::int64_t compared = 0;
  for (const KernelEntry& entry : kernels())
    for (const Problem& problem : entry.make()->tests()) {
      const CaseResult result = run_case(runner, entry, problem, {.repeat = true});
      EXPECT_TRUE(result.passed) << entry.id() << " " << problem.text() << ": " << result.error;
      compared += result.compared;
    }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace mt
