// Runs printed Metal text on the host, one thread at a time: functions of the prelude, and control flow.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "backends/backend.h"
#include "backends/clike/control_kernels.h"
#include "backends/clike/random_kernel.h"
#include "backends/clike/testing.h"
#include "backends/clike/walker.h"
#include "mt/ir/text.h"
#include "mt/ir/verify.h"

namespace mt {
namespace {

using namespace clike::testing;

/// Text compiled with the host's compiler and loaded; what C leaves undefined ends the test by a trap. Entry points are
/// called run_<kernel>(buffers, n).
class Loaded {
 public:
  Loaded(const std::string& text, const std::string& entries) {
    folder_ = (std::filesystem::temp_directory_path() / "mt-metal-XXXXXX").string();
    if (!mkdtemp(folder_.data())) throw Error("no temporary folder");
    std::ofstream(folder_ + "/kernel.cpp") << text << entries;
    const std::string command = fmt::format(
        "{0} -std=c++20 -O1 -fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,float-cast-overflow "
        "-fsanitize-undefined-trap-on-error -ffp-contract=off -fno-strict-aliasing -fPIC -shared -w -I "
        "{1}/backends/metal/testing -I "
        "{1} "
        "-o {2}/kernel.so {2}/kernel.cpp 2> {2}/log",
        MT_CXX, MT_SOURCE_DIR, folder_);
    if (std::system(command.c_str()) != 0) {
      std::ifstream log(folder_ + "/log");
      std::stringstream what;
      what << log.rdbuf();
      throw Error(what.str().substr(0, 4000));
    }
    library_ = dlopen((folder_ + "/kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw Error(dlerror());
  }
  ~Loaded() {
    if (library_) dlclose(library_);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  void run(const std::string& kernel, void** buffers, unsigned n) const {
    auto* entry = reinterpret_cast<void (*)(void**, unsigned)>(dlsym(library_, ("run_" + kernel).c_str()));
    ASSERT_NE(entry, nullptr) << kernel;
    entry(buffers, n);
  }

 private:
  std::string folder_;
  void* library_ = nullptr;
};

const char* metal_type(DType t) {
  static constexpr const char* names[] = {"float",  "half", "bfloat", "char", "uchar", "short",
                                          "ushort", "int",  "uint",   "long", "ulong", "bool"};
  return names[static_cast<int>(t)];
}

std::string entry_of(const OpCase& c) {
  std::string arguments;
  for (int k = 0; k < c.operands(); ++k) arguments += fmt::format("(const {}*)b[{}], ", metal_type(c.operand(k)), k);
  arguments += fmt::format("({}*)b[{}], n", metal_type(c.result()), c.operands());
  return fmt::format(
      "extern \"C\" void run_{0}(void** b, unsigned n) {{\n"
      "  for (unsigned g = 0; g * 64 < n; ++g)\n"
      "    for (unsigned t = 0; t < 64; ++t) {0}({1}, uint3{{g, 0, 0}}, t);\n}}\n",
      c.name(), arguments);
}

/// The prelude's own functions against libm in double, over every exponent.
TEST(MetalText, PreludeFunctionsStayWithinTheirBounds) {
  struct Case {
    Op op;
    double (*f)(double);
    float low, high;
  };
  const Case cases[] = {
      {Op::Erf, std::erf, -6, 6}, {Op::Expm1, std::expm1, -20, 90}, {Op::Log1p, std::log1p, -1, 1e9f}};
  std::vector<Kernel> kernels;
  std::string entries = "\n";
  for (const Case& c : cases) {
    const OpCase o{c.op, DType::F32, DType::F32, 1};
    kernels.push_back(op_kernel(o));
    entries += entry_of(o);
  }
  const Loaded loaded(find_backend("metal")->program(kernels)->text, entries);
  for (const Case& c : cases) {
    std::mt19937_64 random(11);
    constexpr int kMany = 400000;
    std::vector<float> x(kMany), y(kMany);
    for (int i = 0; i < kMany; ++i) {
      const double u = static_cast<double>(random() >> 11) * 0x1p-53;
      const double scale = i % 2 ? 1 : std::exp2(-40 * static_cast<double>(random() >> 11) * 0x1p-53);
      x[static_cast<std::size_t>(i)] = static_cast<float>((c.low + (c.high - c.low) * u) * scale);
    }
    void* buffers[] = {x.data(), y.data()};
    loaded.run(OpCase{c.op, DType::F32, DType::F32, 1}.name(), buffers, kMany);
    double worst = 0, at = 0;
    for (std::size_t i = 0; i < kMany; ++i) {
      const double want = c.f(static_cast<double>(x[i]));
      const double ulp = std::ldexp(1.0, std::max(std::ilogb(want == 0 ? 1e-45 : want), -126) - 23);
      const double error = std::isinf(static_cast<float>(want)) && std::isinf(y[i]) ? 0 : std::fabs(y[i] - want) / ulp;
      if (!(error <= worst)) worst = error, at = x[i];
    }
    RecordProperty(std::string(info(c.op).name), std::to_string(worst));
    std::printf("%s: %.2f ulp at %.9g\n", std::string(info(c.op).name).c_str(), worst, at);
    EXPECT_LE(worst, info(c.op).ulp) << info(c.op).name << " at " << at;
  }
}

/// Runs kernels of 32 threads over x, y and n as text and as instructions, and compares.
void compare_control(std::vector<Kernel> kernels) {
  std::string entries = "\n";
  for (const Kernel& k : kernels) {
    ASSERT_EQ(verify(k), "") << k.name;
    entries += fmt::format(
        "extern \"C\" void run_{0}(void** b, unsigned n) {{\n"
        "  for (unsigned t = 0; t < 32; ++t) {0}((const uint*)b[0], (uint*)b[1], n, t);\n}}\n",
        k.name);
  }
  const Loaded loaded(find_backend("metal")->program(kernels)->text, entries);
  std::size_t changed = 0;
  for (const Kernel& k : kernels) {
    for (const unsigned n : {0u, 5u}) {
      std::vector<std::vector<std::uint32_t>> want(2, std::vector<std::uint32_t>(32));
      std::mt19937 random(n + 1);
      for (auto& buffer : want)
        for (auto& v : buffer)
          v = random() % 3 ? static_cast<std::uint32_t>(random() % 40) : static_cast<std::uint32_t>(random());
      auto got = want;
      const auto before = want[1];
      Walker walker(k, want, {n});
      for (std::uint32_t t = 0; t < 32; ++t) walker.run(t);
      void* buffers[] = {got[0].data(), got[1].data()};
      loaded.run(k.name, buffers, n);
      changed += want[1] != before;
      ASSERT_EQ(got, want) << k.name << " n " << n << "\n" << print(k) << find_backend("metal")->artefact(k)->text;
    }
  }
  EXPECT_GT(changed, kernels.size());
}

TEST(MetalText, ControlFlowComputesWhatTheKernelSays) {
  std::vector<Kernel> kernels;
  for (const TextKernel& t : kControlKernels) kernels.push_back(parse(text_of(t)).take());
  compare_control(std::move(kernels));
}

TEST(MetalText, RandomControlFlowComputesWhatTheKernelSays) {
  std::vector<Kernel> kernels;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    kernels.push_back(RandomKernel(seed).kernel());
    kernels.back().name += std::to_string(seed);
  }
  compare_control(std::move(kernels));
}

}  // namespace
}  // namespace mt
