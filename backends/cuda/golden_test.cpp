#include <gtest/gtest.h>

#include "backends/backend.h"
#include "backends/clike/golden_kernels.h"
#include "backends/clike/testing.h"
#include "mt/ir/text.h"
#include "mt/ir/tile_chain.h"

namespace mt {
namespace {

using namespace clike::testing;

std::string text_of_kernel(const std::string& ir) { return find_backend("cuda")->artefact(parse(ir).take())->text; }

TEST(CudaGolden, KernelsKeepTheirText) {
  for (const TextKernel& k : kGoldenKernels)
    EXPECT_EQ(golden(fmt::format("{}.cu", k.name), text_of_kernel(k.body)), "");
}

TEST(CudaGolden, ControlFlowKeepsItsText) {
  std::vector<Kernel> kernels;
  for (const TextKernel& k : kControlKernels) kernels.push_back(parse(text_of(k)).take());
  EXPECT_EQ(golden("control_flow.cu", find_backend("cuda")->program(kernels)->text), "");
}

TEST(CudaGolden, TilesKeepTheirText) {
  const Backend& target = *find_backend("cuda");
  std::vector<Kernel> kernels;
  for (const DType t : {DType::BF16, DType::F32}) {
    kernels.push_back(tile_chain({.t = t, .shared = true, .known = true, .copy = 16 / size_of(t)}));
    kernels.back().name += fmt::format("_{}", name_of(t));
    optimise(kernels.back(), target.pipeline());
  }
  EXPECT_EQ(golden("tiles.cu", target.program(kernels)->text), "");
}

TEST(CudaGolden, TextIsTheSameEveryTime) {
  for (const TextKernel& k : kGoldenKernels) EXPECT_EQ(text_of_kernel(k.body), text_of_kernel(k.body));
}

}  // namespace
}  // namespace mt
