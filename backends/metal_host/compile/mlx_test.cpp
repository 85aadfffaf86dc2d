// MLX's own kernels, instantiated by tests/metal_mlx, compile unchanged. Needs the folder that holds
// `mlx/backend/metal/kernels` (the include folder of the PyPI package mlx-metal, or MLX's source tree): $MT_MLX, or
// what tools/setup.sh --dev fetched.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "backends/metal_host/compiler.h"

namespace mt::metal_host {
namespace {

namespace fs = std::filesystem;

TEST(MlxKernels, TypeCheckUnchanged) {
  const char* set = std::getenv("MT_MLX");
  const bool named = set && *set;
  const std::string folder = named ? set : MT_SOURCE_DIR "/build/mlx-kernels/mlx/include";
  if (!named && !fs::exists(folder))
    GTEST_SKIP() << "MLX'S KERNELS WERE NOT CHECKED: $MT_MLX names no folder, and tools/setup.sh --dev fetched none";
  ASSERT_TRUE(fs::exists(fs::path(folder) / "mlx/backend/metal/kernels/utils.h")) << folder;
  ASSERT_EQ(msl_unavailable(), "");
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(MT_SOURCE_DIR "/tests/metal_mlx"))
    if (entry.path().extension() == ".metal") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> problems(files.size());
  std::vector<std::size_t> kernels(files.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < files.size();) {
      std::ifstream file(files[i]);
      std::stringstream text;
      text << file.rdbuf();
      MslOptions options;
      options.syntax_only = true;
      options.use_cache = false;
      options.include_dirs = {folder};
      const auto result = compile_msl(text.str(), files[i].filename().string(), options);
      if (result)
        kernels[i] = result->kernels.size();
      else
        problems[i] = result.error().what();
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::max(2u, std::thread::hardware_concurrency()); ++i) workers.emplace_back(work);
  for (std::thread& w : workers) w.join();
  std::size_t good = 0, total = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    good += problems[i].empty();
    total += kernels[i];
    EXPECT_EQ(problems[i], "") << files[i];
  }
  std::printf("%zu of %zu texts, %zu kernels of MLX\n", good, files.size(), total);
  EXPECT_GE(good, 30u);
}

}  // namespace
}  // namespace mt::metal_host
