#include <gtest/gtest.h>

#include "backends/backend.h"
#include "backends/clike/testing.h"
#include "backends/cuda/compiler.h"

namespace mt {
namespace {

using namespace clike::testing;

const Backend& cuda() { return *find_backend("cuda"); }

TEST(Cuda, CompilesEveryOpAndType) {
  for (const int lanes : {1, 4}) {
    std::vector<Kernel> kernels;
    for (const OpCase& c : op_cases(lanes)) kernels.push_back(op_kernel(c));
    ASSERT_GT(kernels.size(), 300u);
    const Artefact text = cuda().program(kernels).value();
    std::map<std::string, std::string> facts;
    const auto problem = cuda().check_artefact(text, &facts);
    if (!problem) GTEST_SKIP() << "no CUDA compiler";
    EXPECT_EQ(*problem, "");
    for (const Kernel& k : kernels) EXPECT_TRUE(facts.contains(k.name + ".registers")) << k.name;
  }
}

}  // namespace
}  // namespace mt
