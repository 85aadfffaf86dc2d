#include "backends/metal_host/compile/clang.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "mt/base/error.h"

extern char** environ;

namespace mt::metal_host {
namespace fs = std::filesystem;
namespace {

std::string environment(const char* name) {
  const char* v = std::getenv(name);
  return v ? v : "";
}

bool is_program(const std::string& path) { return access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path); }

std::string find_clang() {
  if (const std::string set = environment("MT_CLANG"); !set.empty()) return is_program(set) ? set : "";
  std::string path = environment("PATH");
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string file = path.substr(at, end - at) + "/clang-19";
    if (end > at && is_program(file)) return file;
    at = end + 1;
  }
  for (const char* file : {"/usr/lib/llvm-19/bin/clang", "/usr/lib/llvm-19/bin/clang-19"})
    if (is_program(file)) return file;
  return "";
}

std::string identity(const std::string& path) {
  struct stat s {};
  if (path.empty() || stat(path.c_str(), &s) != 0) return "none";
  return fmt::format("{} {} {}", path, s.st_size, s.st_mtime);
}

/// Of the program that runs; empty where the system does not say.
fs::path own_folder() {
  std::error_code e;
#if defined(__APPLE__)
  std::uint32_t bytes = 0;
  _NSGetExecutablePath(nullptr, &bytes);
  std::string path(bytes, '\0');
  if (_NSGetExecutablePath(path.data(), &bytes) != 0) return {};
  return fs::canonical(path.c_str(), e).parent_path();
#else
  return fs::read_symlink("/proc/self/exe", e).parent_path();
#endif
}

std::string find_plugin() {
  if (const char* set = std::getenv("MT_MSL_CHECK")) return access(set, R_OK) == 0 ? set : "";
  const std::string beside = (own_folder() / "libmt_msl_check.so").string();
  return access(beside.c_str(), R_OK) == 0 ? beside : "";
}

/// Held while pipes are made and a program is started: POSIX marks a pipe as closed on exec only after it is made, and
/// a program started in between would keep another's input open.
std::mutex starting;

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe(ends) != 0) throw Error(fmt::format("metal-host: no pipe: {}", std::strerror(errno)));
    read = ends[0], write = ends[1];
    for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
  }
  ~Pipe() { close_read(), close_write(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_read() {
    if (read >= 0) close(read);
    read = -1;
  }
  void close_write() {
    if (write >= 0) close(write);
    write = -1;
  }
};

/// Reads what is there; false at the end.
bool drain(int from, std::string& into) {
  char bytes[65536];
  const ssize_t n = read(from, bytes, sizeof bytes);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (n <= 0) return false;
  into.append(bytes, static_cast<std::size_t>(n));
  return true;
}

/// Writing to a program that has ended must not end this one: SIGPIPE stays blocked in this thread meanwhile.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before_);
  }
  ~NoSigpipe() {
    sigset_t waiting;
    if (!sigismember(&before_, SIGPIPE) && sigpending(&waiting) == 0 && sigismember(&waiting, SIGPIPE)) {
      sigset_t pipe_signal;
      sigemptyset(&pipe_signal);
      sigaddset(&pipe_signal, SIGPIPE);
      int taken = 0;
      sigwait(&pipe_signal, &taken);
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t before_{};
};

void exchange(Pipe& in, Pipe& out, Pipe& err, std::string_view input, ClangRun& run) {
  const NoSigpipe quiet;
  fcntl(in.write, F_SETFL, O_NONBLOCK);
  while (out.read >= 0 || err.read >= 0) {
    pollfd fds[3] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}, {in.write, POLLOUT, 0}};
    if (poll(fds, 3, -1) < 0 && errno != EINTR) return;
    if (out.read >= 0 && (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) && !drain(out.read, run.output))
      out.close_read();
    if (err.read >= 0 && (fds[1].revents & (POLLIN | POLLHUP | POLLERR)) && !drain(err.read, run.errors))
      err.close_read();
    if (in.write >= 0 && (fds[2].revents & (POLLOUT | POLLHUP | POLLERR))) {
      const ssize_t n = input.empty() ? 0 : write(in.write, input.data(), input.size());
      if (n > 0) input.remove_prefix(static_cast<std::size_t>(n));
      if (input.empty() || (n < 0 && errno != EAGAIN && errno != EINTR)) in.close_write();
    }
  }
}

}  // namespace

const std::string& clang_path() {
  static const std::string path = find_clang();
  return path;
}

const std::string& clang_identity() {
  static const std::string id = identity(clang_path()) + "; " + identity(check_plugin());
  return id;
}

const std::string& check_plugin() {
  static const std::string path = find_plugin();
  return path;
}

ClangRun run_clang(const std::vector<std::string>& arguments, std::string_view input) {
  std::vector<char*> argv;
  argv.push_back(const_cast<char*>(clang_path().c_str()));
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  std::unique_lock lock(starting);
  Pipe in, out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write, 1);
  posix_spawn_file_actions_adddup2(&actions, err.write, 2);
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  lock.unlock();
  if (failed) throw Error(fmt::format("metal-host: {} cannot be started: {}", clang_path(), std::strerror(failed)));
  in.close_read(), out.close_write(), err.close_write();
  ClangRun run;
  exchange(in, out, err, input, run);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}

std::vector<std::string> language_arguments(int language, int optimise, bool check, bool steps) {
  std::vector<std::string> all = {
    "-cc1",
    "-x",
    "cl",
    "-std=clc++2021",
    "-triple",
#if defined(__x86_64__)
    "x86_64-pc-linux-gnu",
#else
    "aarch64-unknown-linux-gnu",
#endif
    // Every operation is rounded, as in text that says math_mode(safe) and contract(off).
    "-ffp-contract=off",
    "-cl-single-precision-constant",
    "-cl-ext=-cl_khr_fp64,-__opencl_c_fp64",
    "-ffloat16-excess-precision=none",
    "-fbfloat16-excess-precision=none",
    "-mrelocation-model",
    "pic",
    "-pic-level",
    "2",
    "-fno-caret-diagnostics",
    "-ferror-limit",
    "20",
    // A loop that does nothing for ever is kept: the runtime reports it.
    "-fno-finite-loops",
    "-D__METAL__=1",
    fmt::format("-D__METAL_VERSION__={}", language),
    fmt::format("-O{}", optimise),
    // Time to compile: addresses lead to lines alone, and what clang makes is not verified once more.
    "-gno-column-info",
    "-disable-llvm-verifier",
    "-mllvm",
    "-experimental-debug-variable-locations=false",
    "-Wno-unknown-pragmas",
    "-Wno-duplicate-decl-specifier",
    "-Wno-defaulted-function-deleted",
    "-Wno-return-type-c-linkage",

    "-Werror=return-type",
    "-Werror=array-bounds",
    "-Wuninitialized",
    "-Werror=uninitialized",
    "-Wsometimes-uninitialized"
  };
#if defined(__x86_64__)
  const auto feature = [&](bool there, const char* name) {
    if (there) all.insert(all.end(), {"-target-feature", name});
  };
  feature(__builtin_cpu_supports("avx2") != 0, "+avx2");
  feature(__builtin_cpu_supports("avx2") != 0, "+f16c");
  feature(__builtin_cpu_supports("fma") != 0, "+fma");
#endif
  // The instrumentation leaves out accesses wider than those of the text.
  if (optimise > 1 && !check) all.insert(all.end(), {"-vectorize-slp", "-vectorize-loops"});
  if (check) all.insert(all.end(), {"-fsanitize=thread", "-fsanitize=array-bounds"});
  if (steps) all.insert(all.end(), {"-fsanitize-coverage-type=3", "-fsanitize-coverage-trace-pc"});
  return all;
}

}  // namespace mt::metal_host
