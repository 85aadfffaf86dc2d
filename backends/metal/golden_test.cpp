#include <gtest/gtest.h>

#include "backends/backend.h"
#include "backends/clike/golden_kernels.h"
#include "backends/clike/testing.h"
#include "mt/ir/text.h"

namespace mt {
namespace {

using namespace clike::testing;

std::string text_of_kernel(const std::string& ir) { return find_backend("metal")->artefact(parse(ir).take())->text; }

TEST(MetalGolden, KernelsKeepTheirText) {
  for (const TextKernel& k : kGoldenKernels)
    EXPECT_EQ(golden(fmt::format("{}.metal", k.name), text_of_kernel(k.body)), "");
}

TEST(MetalGolden, ControlFlowKeepsItsText) {
  std::vector<Kernel> kernels;
  for (const TextKernel& k : kControlKernels) kernels.push_back(parse(text_of(k)).take());
  EXPECT_EQ(golden("control_flow.metal", find_backend("metal")->program(kernels)->text), "");
}

TEST(MetalGolden, TextIsTheSameEveryTime) {
  for (const TextKernel& k : kGoldenKernels) EXPECT_EQ(text_of_kernel(k.body), text_of_kernel(k.body));
}

}  // namespace
}  // namespace mt
