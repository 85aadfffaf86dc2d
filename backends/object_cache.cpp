#include "backends/object_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "mt/base/hash.h"

namespace mt {
namespace fs = std::filesystem;
namespace {

/// Before the object in every file.
struct Header {
  char magic[8];
  std::uint64_t bytes, checksum;
  char key[32];
};
constexpr char kMagic[8] = {'M', 'T', 'O', 'B', 'J', '0', '1', '\n'};

bool write_all(int file, const void* data, std::size_t bytes) {
  const char* p = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = write(file, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

ObjectCache::ObjectCache(std::string folder, std::uint64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {}

std::string ObjectCache::standard_folder(std::string_view backend) {
  const auto set = [](const char* name) {
    const char* v = std::getenv(name);
    return v && *v ? std::string(v) : std::string();
  };
  if (const std::string own = set("MT_CACHE_DIR"); !own.empty()) return fmt::format("{}/{}", own, backend);
  if (const std::string xdg = set("XDG_CACHE_HOME"); !xdg.empty()) return fmt::format("{}/metaltile/{}", xdg, backend);
  if (const std::string home = set("HOME"); !home.empty()) return fmt::format("{}/.cache/metaltile/{}", home, backend);
  return fmt::format("/tmp/metaltile-{}/{}", getuid(), backend);
}

std::optional<std::string> ObjectCache::find(const std::string& key) const {
  const int file = open(path(key).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  struct stat s {};
  std::string all;
  if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size >= static_cast<off_t>(sizeof(Header)) &&
      static_cast<std::uint64_t>(s.st_size) <= max_bytes_) {
    all.resize(static_cast<std::size_t>(s.st_size));
    std::size_t have = 0;
    while (have < all.size()) {
      const ssize_t n = read(file, all.data() + have, all.size() - have);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      have += static_cast<std::size_t>(n);
    }
    all.resize(have);
    // The modification time says what is old; a day's precision is enough.
    if (std::time(nullptr) - s.st_mtime > 24 * 3600) futimens(file, nullptr);
  }
  close(file);
  if (all.size() < sizeof(Header)) return std::nullopt;
  Header h;
  std::memcpy(&h, all.data(), sizeof h);
  const std::string_view object = std::string_view(all).substr(sizeof h);
  if (std::memcmp(h.magic, kMagic, sizeof kMagic) != 0 || h.bytes != object.size() || key.size() != sizeof h.key ||
      std::memcmp(h.key, key.data(), sizeof h.key) != 0 || h.checksum != hash64(object))
    return std::nullopt;
  all.erase(0, sizeof h);
  return all;
}

bool ObjectCache::give_up(const std::string& what, int error) {
  if (!noted_)
    std::fprintf(stderr, "note: compiled kernels are not kept: %s %s: %s\n", what.c_str(), folder_.c_str(),
                 std::strerror(error));
  noted_ = true;
  return false;
}

bool ObjectCache::store(const std::string& key, std::string_view object) {
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed) return give_up("cannot make", failed.value());
  static std::atomic<unsigned> serial{0};
  const std::string temporary = fmt::format("{}/.{}.{}.{}.tmp", folder_, key, getpid(), serial++);
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return give_up("cannot write in", errno);
  Header h{};
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  h.bytes = object.size();
  h.checksum = hash64(object);
  std::memcpy(h.key, key.data(), std::min(key.size(), sizeof h.key));
  const bool written = write_all(file, &h, sizeof h) && write_all(file, object.data(), object.size());
  const int error = errno;
  const bool closed = close(file) == 0;
  if (!written || !closed || rename(temporary.c_str(), path(key).c_str()) != 0) {
    const int why = written ? errno : error;
    unlink(temporary.c_str());
    return give_up("cannot write in", why);
  }
  trim();
  return true;
}

void ObjectCache::trim() const {
  struct Entry {
    fs::path path;
    fs::file_time_type time;
    std::uint64_t bytes;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code e;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(folder_, e), end; !e && it != end; it.increment(e)) {
    std::error_code gone;  // another process may remove it meanwhile
    const auto time = it->last_write_time(gone);
    const std::uint64_t bytes = gone ? 0 : it->file_size(gone);
    if (gone) continue;
    if (it->path().extension() == ".tmp") {
      if (now - time > std::chrono::hours(1)) fs::remove(it->path(), gone);
    } else if (it->path().extension() == ".o") {
      entries.push_back({it->path(), time, bytes});
      total += bytes;
    }
  }
  if (total <= max_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.time < b.time; });
  for (const Entry& x : entries) {
    if (total <= max_bytes_ / 10 * 9) break;
    std::error_code gone;
    fs::remove(x.path, gone);
    total -= x.bytes;
  }
}

}  // namespace mt
