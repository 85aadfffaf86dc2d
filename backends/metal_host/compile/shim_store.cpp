#include "backends/metal_host/compile/shim_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

void write_headers(const std::string& folder) {
  for (std::size_t i = 0; i < kShimFileCount; ++i) {
    std::ofstream file(folder + "/" + kShimFiles[i].name, std::ios::binary);
    file << kShimFiles[i].bytes;
    if (!file.flush()) throw Error(fmt::format("cannot write in {}", folder));
  }
}

/// The folder of the cache; throws Error where it cannot be made.
std::string kept_folder() {
  const fs::path root = ObjectCache::standard_folder("metal-host-shim");
  const std::string folder = (root / shim_hash()).string();
  std::error_code e;
  if (fs::exists(folder, e)) return folder;
  const std::string temporary = temporary_name(folder);
  fs::create_directories(temporary, e);
  if (e) throw Error(fmt::format("cannot make {}: {}", folder, e.message()));
  std::error_code ignored;
  try {
    write_headers(temporary);
  } catch (const Error&) {
    fs::remove_all(temporary, ignored);
    throw;
  }
  fs::rename(temporary, folder, e);
  if (e) {
    // Another process was first, with the same bytes.
    fs::remove_all(temporary, ignored);
    if (!fs::exists(folder, ignored)) throw Error(fmt::format("cannot make {}: {}", folder, e.message()));
  }
  remove_old(root, shim_hash());
  return folder;
}

/// A folder of this process, gone when it ends.
class PassingFolder {
 public:
  PassingFolder() {
    std::error_code e;
    path_ = (fs::temp_directory_path(e) / "metaltile-XXXXXX").string();
    if (e || !mkdtemp(path_.data()))
      throw Error(
          fmt::format("metal-host: no folder can be made for the headers of the Metal library, not even {}; "
                      "set MT_CACHE_DIR or TMPDIR to where this user may write",
                      path_));
    owner_ = getpid();
    write_headers(path_);
  }
  ~PassingFolder() {
    std::error_code ignored;
    if (getpid() == owner_) fs::remove_all(path_, ignored);
  }
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  pid_t owner_ = 0;
};

/// Where the cache can be read but not written, or not made at all, each process makes its own.
const std::string& passing_folder(const std::string& why) {
  static const PassingFolder folder;
  static const bool noted = [&] {
    fmt::print(stderr, "note: precompiled headers are not kept: {}; set MT_CACHE_DIR\n", why);
    return true;
  }();
  (void)noted;
  return folder.path();
}

std::string make_folder() {
  try {
    return kept_folder();
  } catch (const Error& e) {
    return passing_folder(e.what());
  }
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
  const std::string name = fmt::format("/{}.pch", hash_hex(key));
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  std::string path = shim_folder() + name;
  if (fs::exists(path)) return path;
  if (access(shim_folder().c_str(), W_OK) != 0) {
    path = passing_folder(fmt::format("cannot write in {}: {}", shim_folder(), std::strerror(errno))) + name;
    if (fs::exists(path)) return path;
  }
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
