// Every file of kernels is in the program: one that the linker left out would take its kernels from all tests with it.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "mt/dsl/kernel.h"

namespace mt {
namespace {

std::string from_root(const std::string& file) {
  const auto at = file.rfind("kernels/");
  return at == std::string::npos ? file : file.substr(at);
}

TEST(Registry, EveryFileOfKernelsRegistersSome) {
  std::set<std::string> registering;
  for (const KernelEntry& e : kernels()) registering.insert(from_root(e.loc.file));
  int files = 0;
  for (const auto& item : std::filesystem::recursive_directory_iterator(MT_SOURCE_DIR "/kernels")) {
    const std::string file = from_root(item.path().string()), folder = item.path().parent_path().filename().string();
    if (item.path().extension() != ".cpp" || file.ends_with("_test.cpp") || folder == "reports") continue;
    ++files;
    EXPECT_TRUE(registering.count(file)) << file << " registers no kernel here: is it linked?";
  }
  EXPECT_GE(files, 20);
}

TEST(Registry, EveryKernelHasCasesThatComputeSomething) {
  ASSERT_FALSE(kernels().empty());
  for (const KernelEntry& e : kernels()) {
    const auto instance = e.make();
    int cases = 0;
    for (const Problem& p : instance->tests())
      for (const TensorParam& t : instance->signature().tensors) {
        if (t.access == Access::In || t.temporary) continue;
        std::int64_t elements = 1;
        for (const std::int64_t extent : shape_of(t, p)) elements *= extent;
        cases += elements > 0;
      }
    EXPECT_GT(cases, 0) << e.id();
  }
}

}  // namespace
}  // namespace mt
