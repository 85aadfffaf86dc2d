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

void expect_compiles(const std::vector<Kernel>& kernels) {
  std::map<std::string, std::string> facts;
  const auto problem = cuda().check_artefact(cuda().program(kernels).value(), &facts);
  if (!problem) GTEST_SKIP() << "no CUDA compiler";
  EXPECT_EQ(*problem, "");
  for (const Kernel& k : kernels) EXPECT_TRUE(facts.contains(k.name + ".registers")) << k.name;
}

TEST(Cuda, CompilesEveryCollective) {
  std::vector<Kernel> kernels;
  for (const CollectiveCase& c : collective_cases()) kernels.push_back(collective_kernel(c));
  expect_compiles(kernels);
}

TEST(Cuda, CompilesAtomics) {
  std::vector<Kernel> kernels;
  for (const AtomicCase& c : atomic_cases({DType::F32, DType::I32, DType::U32})) kernels.push_back(atomic_kernel(c));
  for (const AtomicCase& c : atomic_cases({DType::I64, DType::U64}))
    if (c.combine != Combine::Prod) kernels.push_back(atomic_kernel(c));
  expect_compiles(kernels);
}

TEST(Cuda, RefusesAtomicsThatItLacks) {
  for (const DType t : {DType::F16, DType::BF16, DType::U8}) {
    try {
      (void)cuda().artefact(atomic_kernel({t, Combine::Sum, Space::Device}));
      ADD_FAILURE() << "printed an atomic of " << name_of(t);
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("accumulate in"), std::string::npos) << e.what();
    }
  }
}

TEST(Cuda, SaysWhatDoesNotCompileAndWhatSpills) {
  const auto broken = cuda().check_artefact({"cu", "extern \"C\" __global__ void k() { undeclared = 1; }"}, nullptr);
  if (!broken) GTEST_SKIP() << "no CUDA compiler";
  EXPECT_NE(broken->find("undeclared"), std::string::npos) << *broken;
  // 300 live values in 1024 threads cannot stay in 64 registers.
  const std::string spills =
      "extern \"C\" __global__ void __launch_bounds__(1024) k(float* x, int n) {\n"
      "  float v[300];\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 300; ++i) v[i] = x[i * 1024 + threadIdx.x];\n"
      "  __syncthreads();\n"
      "  for (int r = 0; r < n; ++r) {\n"
      "#pragma unroll\n"
      "    for (int i = 0; i < 300; ++i) v[i] = v[i] * v[(i * 7 + 1) % 300];\n"
      "  }\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 300; ++i) x[i * 1024 + threadIdx.x] = v[i];\n"
      "}\n";
  std::map<std::string, std::string> facts;
  const auto problem = cuda().check_artefact({"cu", spills}, &facts);
  EXPECT_NE(problem->find("[k] spills"), std::string::npos) << *problem;
  EXPECT_GT(std::stoi(facts.at("k.spill_bytes")), 0);
}

TEST(Cuda, ReadsWhatPtxasReports) {
  const auto facts = cuda::parse_ptxas(
      "ptxas info    : Compiling entry function 'one' for 'sm_90a'\n"
      "ptxas info    : Function properties for one\n"
      "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 34 registers, used 1 barriers, 8 bytes cumulative stack size, 128 bytes smem\n");
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts.at("one").registers, 34);
  EXPECT_EQ(facts.at("one").spill_bytes, 16);
  EXPECT_EQ(facts.at("one").stack_bytes, 8);
  EXPECT_EQ(facts.at("one").shared_bytes, 128);
}

TEST(Cuda, HasNoDeviceHere) {
  const auto device = cuda().open();
  ASSERT_FALSE(device);
  EXPECT_EQ(std::string(device.error().what()), cuda().unavailable());
  EXPECT_EQ(cuda().rank(), 0);
}

}  // namespace
}  // namespace mt
