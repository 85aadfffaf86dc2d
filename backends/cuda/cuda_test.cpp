#include <gtest/gtest.h>

#include "backends/backend.h"
#include "backends/clike/golden_kernels.h"
#include "backends/clike/random_kernel.h"
#include "backends/clike/testing.h"
#include "backends/cuda/compiler.h"
#include "mt/ir/text.h"
#include "mt/ir/tile_chain.h"

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

TEST(Cuda, CompilesControlFlowAndGoldenKernels) {
  std::vector<Kernel> kernels;
  for (const TextKernel& k : kControlKernels) kernels.push_back(parse(text_of(k)).take());
  for (const TextKernel& k : kGoldenKernels) kernels.push_back(parse(k.body).take());
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    kernels.push_back(RandomKernel(seed).kernel());
    kernels.back().name += std::to_string(seed);
  }
  expect_compiles(kernels);
}

TEST(Cuda, PutsLargeThreadgroupMemoryIntoDynamicShared) {
  const auto text = [](int count) {
    return cuda()
        .artefact(parse(fmt::format("kernel @big threads 32 {{\n  device out %y: f32 [32]\n"
                                    "  threadgroup %a: f32 [{}]\n  threadgroup %b: u8 [5]\n"
                                    "  %i: u32 = thread_id\n  %0: f32 = const 1.0\n  store %a[%i], %0\n"
                                    "  barrier\n  %1: f32 = load %a[%i]\n  store %y[%i], %1\n}}\n",
                                    count))
                      .take())
        .value();
  };
  const Artefact fits = text(12 * 1024 - 4), large = text(12 * 1024);
  EXPECT_NE(fits.text.find("__shared__ float a[12284]"), std::string::npos) << fits.text;
  EXPECT_NE(large.text.find("49168 bytes of dynamic shared memory"), std::string::npos) << large.text;
  EXPECT_NE(large.text.find("u8* b = (u8*)(mt_shared + 49152)"), std::string::npos) << large.text;
  for (const Artefact& a : {fits, large}) {
    const auto problem = cuda().check_artefact(a, nullptr);
    if (!problem) GTEST_SKIP() << "no CUDA compiler";
    EXPECT_EQ(*problem, "");
  }
}

Kernel optimised_chain(const TileChain& c, const std::string& name) {
  Kernel k = tile_chain(c);
  k.name = name;
  optimise(k, cuda().pipeline());
  return k;
}

TEST(Cuda, CompilesTiles) {
  // ptxas spills some words by choice: of small kernels for more threads at a time, and where lanes diverge.
  constexpr int kSome = 64;
  for (const bool known : {true, false}) {
    std::vector<Kernel> kernels;
    for (const DType t : {DType::BF16, DType::F16, DType::F32})
      for (int n = 0; n < (known ? 8 : 4); ++n) {
        const TileChain c{.t = t,
                          .rows = n & 1 ? 32 : 16,
                          .lhs_t = (n & 1) != 0,
                          .rhs_t = (n & 2) != 0,
                          .shared = (n & 4) != 0,
                          .known = known,
                          .k = 32,
                          .pad = n == 7 ? 1 : 8,
                          .copy = 16 / size_of(t)};
        kernels.push_back(optimised_chain(c, fmt::format("tiles_{}_{}", name_of(t), n)));
      }
    std::map<std::string, std::string> facts;
    const auto problem = cuda().check_artefact(cuda().program(kernels).value(), &facts);
    if (!problem) GTEST_SKIP() << "no CUDA compiler";
    EXPECT_TRUE(problem->empty() || problem->find("] spills") != std::string::npos) << *problem;
    for (const Kernel& k : kernels) {
      ASSERT_TRUE(facts.contains(k.name + ".registers")) << k.name;
      EXPECT_LE(std::stoi(facts.at(k.name + ".spill_bytes")), known ? kSome : 4 * kSome) << k.name;
    }
  }
}

TEST(Cuda, TilesUseTheMatrixUnitAndItsLoads) {
  const TileChain c{.shared = true, .known = true, .k = 64};
  const std::string text = cuda().artefact(optimised_chain(c, "tiles"))->text;
  for (const char* part :
       {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "ldmatrix.sync.aligned.m8n8.x4.shared",
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared", "cp.async.cg.shared.global [%0], [%1], 16;", "mt::copy_commit();",
        "mt::copy_wait_0();", "cvt.rn.bf16x2.f32", "alignas(16) bfloat"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  // f32 operands stay f32.
  const std::string exact = cuda().artefact(optimised_chain({.t = DType::F32, .known = true}, "tiles"))->text;
  EXPECT_EQ(exact.find("mma.sync"), std::string::npos) << exact;
  EXPECT_NE(exact.find("fmaf("), std::string::npos) << exact;
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
  // A remark stands before the kernel's name or behind it.
  const std::string remark =
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
      "insufficient register resources for the wgmma pipeline in the function 'k'\n";
  const std::string entry = "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n";
  for (const std::string& log : {remark + entry, entry + remark})
    EXPECT_EQ(cuda::parse_ptxas(log).at("k").remark.substr(0, 7), "(C7510)") << log;
  EXPECT_EQ(cuda::parse_ptxas(entry).at("k").remark, "");
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

}  // namespace
}  // namespace mt
