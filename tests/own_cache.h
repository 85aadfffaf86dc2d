// Tests that compile kernels leave the user's cache of them alone. For one source of a test program.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace mt {

class OwnCache : public testing::Environment {
  void SetUp() override {
    if (std::getenv("MT_CACHE_DIR")) return;
    std::string name = (std::filesystem::temp_directory_path() / "mt_tests_XXXXXX").string();
    if (!mkdtemp(name.data())) GTEST_FAIL() << "no temporary folder " << name;
    folder_ = name;
    setenv("MT_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string folder_;
};
inline const auto* const kOwnCache = testing::AddGlobalTestEnvironment(new OwnCache);

}  // namespace mt
