#include "backends/metal/library.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "mt/base/error.h"

extern char** environ;

namespace mt::metal {
namespace {
namespace fs = std::filesystem;

constexpr const char* kGetXcode =
    "a metallib is built on a Mac with Xcode (its command line tools alone have no Metal compiler; since Xcode 26 "
    "`xcodebuild -downloadComponent MetalToolchain` adds it); `tile build --target metal` writes the texts anywhere";

/// A folder that goes when this does.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "metaltile-XXXXXX").string();
    if (!mkdtemp(name.data())) throw Error(fmt::format("metallib: no folder {}: {}", name, std::strerror(errno)));
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return in ? all.str() : "";
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  out.close();
  if (!out) throw Error(fmt::format("metallib: {} can't be written: {}", path, std::strerror(errno)));
}

/// `xcrun -sdk macosx ARGUMENTS...` under way. What it prints goes into a file.
class Tool {
 public:
  Tool(const std::vector<std::string>& arguments, std::string log) : log_(std::move(log)) {
    std::vector<std::string> words = {"xcrun", "-sdk", "macosx"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    const int failed = posix_spawnp(&child_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT) throw Error(fmt::format("metallib: there is no xcrun here; {}", kGetXcode));
    if (failed) throw Error(fmt::format("metallib: xcrun cannot be started: {}", std::strerror(failed)));
    running_ = true;
  }
  ~Tool() {
    if (!running_) return;
    kill(child_, SIGTERM);
    reap();
  }
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  /// Waits. Throws Error with what it printed where it failed; `what` is what it worked on.
  void finish(const std::string& what) {
    const int status = reap();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    std::string said = bytes_of(log_);
    while (said.ends_with('\n')) said.pop_back();
    if (said.find("unable to find utility") != said.npos || said.find("missing Metal Toolchain") != said.npos)
      throw Error(fmt::format("metallib: {}; {}", said, kGetXcode));
    throw Error(fmt::format("metallib: {}: {}", what,
                            !said.empty()         ? said
                            : WIFSIGNALED(status) ? fmt::format("xcrun was ended by signal {}", WTERMSIG(status))
                                                  : fmt::format("xcrun ended with {}", WEXITSTATUS(status))));
  }

 private:
  int reap() {
    int status = 0;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    running_ = false;
    return status;
  }
  std::string log_;
  pid_t child_ = 0;
  bool running_ = false;
};

}  // namespace

std::string metal_library(const std::vector<std::pair<std::string, std::string>>& texts,
                          const std::function<void(const std::string&)>& progress) {
  if (texts.empty()) throw Error("metallib: there is no text to make a library of");
  const ScratchFolder folder;
  const std::size_t at_once = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::string> link = {"metallib"};
  std::vector<std::pair<std::unique_ptr<Tool>, std::string>> running;  // oldest first
  const auto finish_oldest = [&] {
    running.front().first->finish(running.front().second);
    running.erase(running.begin());
  };
  for (std::size_t n = 0; n < texts.size(); ++n) {
    const auto& [name, text] = texts[n];
    if (progress) progress(name);
    if (running.size() >= at_once) finish_oldest();
    // Numbered, for two texts may have one name in different folders; the compiler's messages keep the name.
    const std::string stem = folder.file(std::to_string(n));
    fs::create_directory(stem);
    const std::string source = stem + "/" + fs::path(name).filename().string(), object = stem + ".air";
    write(source, text);
    running.emplace_back(std::make_unique<Tool>(std::vector<std::string>{"metal", "-std=metal3.1", "-fno-fast-math",
                                                                         "-c", source, "-o", object},
                                                stem + ".log"),
                         name);
    link.push_back(object);
  }
  while (!running.empty()) finish_oldest();
  const std::string library = folder.file("all.metallib");
  link.insert(link.end(), {"-o", library});
  if (progress) progress("all of them, linked");
  Tool(link, folder.file("link.log")).finish("linking");
  std::string bytes = bytes_of(library);
  if (bytes.empty()) throw Error("metallib: xcrun wrote no library and gave no reason");
  return bytes;
}

}  // namespace mt::metal
