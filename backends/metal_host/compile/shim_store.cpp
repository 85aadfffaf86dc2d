#include "backends/metal_host/compile/shim_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "backends/metal_host/compile/clang.h"
#include "backends/object_cache.h"
#include "mt/base/error.h"
#include "mt/base/hash.h"

namespace mt::metal_host {
namespace fs = std::filesystem;
namespace {

std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> serial{0};
  return fmt::format("{}.{}.{}.tmp", path, getpid(), serial++);
}

/// What older builds left goes after a month.
void remove_old(const fs::path& root, const std::string& own) {
  std::error_code e, ignored;
  for (fs::directory_iterator it(root, e), end; !e && it != end; it.increment(e)) {
    const auto time = it->last_write_time(ignored);
    if (!ignored && it->path().filename() != own &&
        fs::file_time_type::clock::now() - time > std::chrono::hours(24 * 30))
      fs::remove_all(it->path(), ignored);
  }
}

std::string make_folder() {
  const fs::path root = ObjectCache::standard_folder("metal-host-shim");
  const std::string folder = (root / shim_hash()).string();
  if (fs::exists(folder)) return folder;
  const std::string temporary = temporary_name(folder);
  std::error_code e;
  fs::create_directories(temporary, e);
  if (e) throw Error(fmt::format("metal-host: cannot make {}: {}; set MT_CACHE_DIR", temporary, e.message()));
  for (std::size_t i = 0; i < kShimFileCount; ++i) {
    std::ofstream file(temporary + "/" + kShimFiles[i].name, std::ios::binary);
    file << kShimFiles[i].bytes;
    if (!file.flush()) throw Error(fmt::format("metal-host: cannot write in {}; set MT_CACHE_DIR", temporary));
  }
  fs::rename(temporary, folder, e);
  if (e) {
    // Another process was first, with the same bytes.
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    if (!fs::exists(folder)) throw Error(fmt::format("metal-host: cannot make {}: {}", folder, e.message()));
  }
  remove_old(root, shim_hash());
  return folder;
}

}  // namespace

const std::string& shim_hash() {
  static const std::string hash = [] {
    std::string all;
    for (std::size_t i = 0; i < kShimFileCount; ++i)
      all += fmt::format("{}\n{}\n", kShimFiles[i].name, kShimFiles[i].bytes);
    return hash_hex(all);
  }();
  return hash;
}

const std::string& shim_folder() {
  static const std::string folder = make_folder();
  return folder;
}

std::string precompiled_shim(const std::vector<std::string>& arguments) {
  std::string key = clang_identity();
  for (const std::string& a : arguments) key += "\n" + a;
  const std::string path = fmt::format("{}/{}.pch", shim_folder(), hash_hex(key));
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (fs::exists(path)) return path;
  const std::string temporary = temporary_name(path);
  std::vector<std::string> all = arguments;
  all.insert(all.end(), {"-I", shim_folder(), "-emit-pch", "-o", temporary, shim_folder() + "/msl_shim.h"});
  const ClangRun run = run_clang(all, "");
  std::error_code e;
  if (run.status == 0) fs::rename(temporary, path, e);
  if (run.status != 0 || e) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw Error(fmt::format("metal-host: {} does not take the headers of the Metal library; it must be version 19: {}",
                            clang_path(), e ? e.message() : run.errors.substr(0, 2000)));
  }
  return path;
}

}  // namespace mt::metal_host
