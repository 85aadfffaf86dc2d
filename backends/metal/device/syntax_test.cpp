// What only a Mac compiles is at least read here, against metal-cpp's own headers.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace mt::metal {
namespace {
namespace fs = std::filesystem;

const fs::path kApple = fs::path(MT_SOURCE_DIR) / "backends/metal/device/apple";

/// What clang says of a file; empty when nothing.
std::string complaints(const fs::path& file, const std::string& more = "") {
  const std::string log = ::testing::TempDir() + fmt::format("metal_syntax_{}.txt", getpid());
  const std::string command = fmt::format(
      "'{}' -fsyntax-only -std=c++20 -fblocks -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror -I '{}' "
      "-isystem '{}/backends/metal/device/testing' -isystem '{}' {} '{}' > '{}' 2>&1",
      MT_BLOCKS_CLANG, MT_SOURCE_DIR, MT_SOURCE_DIR, MT_METAL_CPP, more, file.string(), log);
  const int status = std::system(command.c_str());
  std::ostringstream said;
  said << std::ifstream(log).rdbuf();
  fs::remove(log);
  return status == 0 ? "" : fmt::format("status {}: {}", status, said.str());
}

class MetalCpp : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __APPLE__
    GTEST_SKIP() << "the device itself is compiled here";
#endif
    if (!fs::exists(fs::path(MT_METAL_CPP) / "Metal/Metal.hpp"))
      GTEST_SKIP() << "THE SOURCES OF THE METAL DEVICE WERE NOT READ: no metal-cpp in " MT_METAL_CPP
                      "; tools/setup.sh --dev fetches it, or configure with -DMT_METAL_CPP=DIR";
    if (std::string(MT_BLOCKS_CLANG).ends_with("NOTFOUND"))
      GTEST_SKIP() << "THE SOURCES OF THE METAL DEVICE WERE NOT READ: no clang++; apt-get install clang-14";
  }
};

TEST_F(MetalCpp, TheDeviceIsGoodCpp) {
  int read = 0;
  for (const auto& entry : fs::directory_iterator(kApple)) {
    if (entry.path().extension() != ".cpp") continue;
    EXPECT_EQ(complaints(entry.path()), "") << entry.path();
    ++read;
  }
  EXPECT_GE(read, 3);
}

TEST_F(MetalCpp, AMistakeIsSeen) {
  const std::string file = ::testing::TempDir() + fmt::format("metal_mistake_{}.cpp", getpid());
  const auto with = [&](const char* body) {
    std::ofstream(file) << "#include <Metal/Metal.hpp>\nunsigned long f(MTL::Device* d) { return " << body << "; }\n";
    return complaints(file);
  };
  EXPECT_EQ(with("d->maxBufferLength()"), "");
  EXPECT_NE(with("d->maxBufferLengths()").find("maxBufferLengths"), std::string::npos);
  fs::remove(file);
}

}  // namespace
}  // namespace mt::metal
