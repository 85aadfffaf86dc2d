#include "mt/harness/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "mt/base/error.h"

namespace mt {
namespace {
namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int error, std::string_view doing = "write") {
  throw Error(fmt::format("can't {} {}: {}", doing, path, std::strerror(error)));
}

/// Writes all of `text`; 0, or the errno of what went wrong.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

std::string temporary_beside(const std::string& path) {
  static std::atomic<int> counter = 0;
  return fmt::format("{}.{}.{}.tmp", path, ::getpid(), counter++);
}

/// Writes a new file; it is gone again where that fails.
void write_temporary(const std::string& temporary, const std::string& path, std::string_view text) {
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) fail(path, errno);
  int error = write_all(fd, text);
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0) return;
  ::unlink(temporary.c_str());
  fail(path, error);
}

void rename_or_fail(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return;
  const int error = errno;
  ::unlink(from.c_str());
  fail(to, error);
}

/// What a chain of symbolic links leads to, there or not: links stay, and that is replaced.
fs::path behind_links(const std::string& path) {
  fs::path real = path;
  std::error_code ec;
  for (int links = 0; fs::is_symlink(real, ec); ++links) {
    if (links == 40) fail(path, ELOOP);
    real = real.parent_path() / fs::read_symlink(real, ec);
    if (ec) fail(path, ec.value());
  }
  return real;
}

}  // namespace

void write_file(const std::string& path, std::string_view text) {
  if (path == "-") {
    if (const int error = write_all(STDOUT_FILENO, text)) fail("the standard output", error);
    return;
  }
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) fail(path, errno);
    const int error = write_all(fd, text);
    ::close(fd);
    if (error) fail(path, error);
    return;
  }
  const fs::path real = behind_links(path);
  const std::string temporary = temporary_beside(real.string());
  write_temporary(temporary, path, text);
  rename_or_fail(temporary, real.string());
}

std::string read_file(const std::string& path) {
  std::error_code ec;
  if (fs::is_directory(path, ec)) fail(path, EISDIR, "read");
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, errno ? errno : ENOENT, "read");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

FileSet::FileSet(std::string folder) : folder_(std::move(folder)) {}

FileSet::~FileSet() {
  for (const auto& [temporary, final] : files_) ::unlink(temporary.c_str());
  for (auto it = made_.rbegin(); it != made_.rend(); ++it) ::rmdir(it->c_str());  // only where empty
}

void FileSet::add(const std::string& name, std::string_view text) {
  const fs::path path = fs::path(folder_) / name;
  std::vector<fs::path> missing;
  for (fs::path p = path.parent_path(); !p.empty() && !fs::exists(p); p = p.parent_path()) missing.push_back(p);
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    if (::mkdir(it->c_str(), 0777) != 0 && errno != EEXIST) fail(it->string(), errno, "create");
    made_.push_back(it->string());
  }
  const std::string temporary = temporary_beside(path.string());
  write_temporary(temporary, path.string(), text);
  files_.emplace_back(temporary, path.string());
}

void FileSet::commit() {
  // A target that can't be replaced is found before the first rename, so that old and new files are not mixed.
  for (const auto& [temporary, final] : files_) {
    struct stat info = {};
    if (::lstat(final.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) fail(final, EISDIR);
  }
  while (!files_.empty()) {
    const auto [temporary, final] = files_.front();
    if (::rename(temporary.c_str(), final.c_str()) != 0) fail(final, errno);
    files_.erase(files_.begin());
  }
  made_.clear();
}

}  // namespace mt
