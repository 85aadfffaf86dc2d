#include "mt/harness/peer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "mt/harness/interrupt.h"
#include "mt/harness/stopwatch.h"

namespace mt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kStartSeconds = 120, kPrepareSeconds = 300, kSampleSeconds = 60;

// A peer that has ended is an error of the next question, not the end of this process.
#ifdef SO_NOSIGPIPE  // a property of the socket on a Mac
constexpr int kNoSignal = 0;
#else
constexpr int kNoSignal = MSG_NOSIGNAL;
#endif

constexpr std::string_view kScript = "_peer.py";

std::string last_line(const std::string& path) {
  std::string last;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.find_first_not_of(" \t\r") != line.npos) last = line;
  return last;
}

std::string temporary_folder() {
  // Memory where the system has a file system of it: tensors pass through these files.
  std::error_code none;
  const fs::path parent = fs::is_directory("/dev/shm", none) ? fs::path("/dev/shm") : fs::temp_directory_path();
  std::string folder = (parent / "mt-peer-XXXXXX").string();
  if (!mkdtemp(folder.data())) throw Error("no temporary folder under " + parent.string());
  return folder;
}

}  // namespace

Peer::Peer(std::string name, std::vector<std::string> command)
    : name_(std::move(name)), folder_(temporary_folder()), command_(std::move(command)) {
  try {
    start();
  } catch (...) {
    std::error_code none;
    fs::remove_all(folder_, none);
    throw;
  }
}

Peer::~Peer() {
  stop();
  std::error_code none;
  fs::remove_all(folder_, none);
}

void Peer::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    throw Error(fmt::format("peer {}: no socket: {}", name_, std::strerror(errno)));
  for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
#ifdef SO_NOSIGPIPE
  const int yes = 1;
  setsockopt(ends[0], SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
  std::vector<char*> arguments;
  for (std::string& word : command_) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string log = folder_ + "/stderr";
  process_ = fork();
  if (process_ == 0) {
    dup2(ends[1], STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    if (const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600); file >= 0) dup2(file, STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  socket_ = ends[0];
  if (process_ < 0) {
    stop();
    throw Error(fmt::format("peer {}: no process: {}", name_, std::strerror(errno)));
  }
  version_ = Json::parse(ask(R"({"op": "hello"})", kStartSeconds)).value("version", name_);
}

void Peer::stop() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  buffer_.clear();
  if (process_ > 0) {
    // It ends by itself with its input, unless it hangs.
    for (int i = 0; i < 100 && process_ > 0; ++i) {
      if (waitpid(process_, nullptr, WNOHANG) != 0)
        process_ = -1;
      else
        usleep(10'000);
    }
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
  }
  process_ = -1;
}

void Peer::fail(const std::string& what) {
  stop();
  const std::string said = last_line(folder_ + "/stderr");
  throw Error(fmt::format("peer {}: {}{}", name_, what, said.empty() ? "" : "; its last words: " + said));
}

std::string Peer::read_line(double seconds) {
  const Stopwatch watch;
  for (;;) {
    if (const auto end = buffer_.find('\n'); end != buffer_.npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    check_interrupt();
    if (watch.seconds() > seconds) fail(fmt::format("no answer in {:.0f} seconds", seconds));
    pollfd wait{socket_, POLLIN, 0};
    if (poll(&wait, 1, 200) <= 0) continue;
    char block[4096];
    const ssize_t n = recv(socket_, block, sizeof block, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("its process has ended");
    buffer_.append(block, static_cast<std::size_t>(n));
  }
}

std::string Peer::ask(const std::string& line, double seconds) {
  const std::string message = line + "\n";
  for (std::size_t sent = 0; sent < message.size();) {
    const ssize_t n = send(socket_, message.data() + sent, message.size() - sent, kNoSignal);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("its process has ended");
    sent += static_cast<std::size_t>(n);
  }
  std::string text = read_line(seconds);
  const Json answer = Json::parse(text, nullptr, false);
  if (!answer.is_object() || !answer.contains("ok") || !answer["ok"].is_boolean())
    fail(fmt::format("an answer that is no answer: {}", text.substr(0, 200)));
  if (!answer["ok"].get<bool>())
    throw Error(fmt::format("peer {}: {}", name_,
                            answer.contains("error") && answer["error"].is_string()
                                ? answer["error"].get<std::string>()
                                : std::string("it does not say what is wrong")));
  return text;
}

std::vector<std::string> Peer::prepare(const KernelEntry& entry, const Call& call,
                                       const std::map<std::string, HostTensor>& inputs, std::size_t copies) {
  if (process_ < 0) start();
  Json message{{"op", "prepare"}, {"kernel", entry.name}, {"dtype", name_of(entry.dtype)}};
  message["sizes"] = Json::object();
  for (const auto& [name, value] : call.problem().sizes()) message["sizes"][name] = value;
  message["reals"] = Json::object();
  for (const auto& [name, value] : call.problem().reals()) message["reals"][name] = value;
  message["copies"] = copies;
  message["tensors"] = Json::array();
  outputs_.clear();
  for (const TensorSlot& s : call.tensors()) {
    if (s.param->temporary) continue;
    const bool read = s.param->access != Access::Out;
    const std::string file = fmt::format("{}/{}", folder_, s.param->name);
    if (read) {
      const HostTensor& t = inputs.at(s.param->name);
      std::ofstream to(file, std::ios::binary);
      to.write(reinterpret_cast<const char*>(t.data.data()), static_cast<std::streamsize>(t.bytes()));
      if (!to.flush()) throw Error(fmt::format("peer {}: can't write {}", name_, file));
    }
    if (s.param->access != Access::In) outputs_.push_back(s);
    message["tensors"].push_back({{"name", s.param->name},
                                  {"dtype", name_of(s.param->dtype)},
                                  {"shape", s.shape},
                                  {"access", read ? "in" : "out"},
                                  {"file", file}});
  }
  const Json answer = Json::parse(ask(message.dump(), kPrepareSeconds));
  std::vector<std::string> ways;
  if (answer.contains("ways") && answer["ways"].is_array())
    for (const Json& way : answer["ways"])
      if (way.is_string()) ways.push_back(way);
  if (ways.empty()) fail("it prepared nothing");
  return ways;
}

std::vector<HostTensor> Peer::outputs(const std::string& way) {
  ask(Json{{"op", "run"}, {"way", way}}.dump(), kPrepareSeconds);
  std::vector<HostTensor> all;
  for (const TensorSlot& s : outputs_) {
    HostTensor t(s.param->name, s.param->dtype, s.shape);
    const std::string file = fmt::format("{}/{}", folder_, s.param->name);
    std::ifstream from(file, std::ios::binary);
    from.read(reinterpret_cast<char*>(t.data.data()), static_cast<std::streamsize>(t.bytes()));
    if (static_cast<std::size_t>(from.gcount()) != t.bytes() || from.peek() != std::ifstream::traits_type::eof())
      throw Error(fmt::format("peer {}: output {} has not its {} bytes", name_, s.param->name, t.bytes()));
    all.push_back(std::move(t));
  }
  return all;
}

double Peer::sample(const std::string& way) {
  const Json answer = Json::parse(ask(Json{{"op", "time"}, {"way", way}}.dump(), kSampleSeconds));
  if (!answer.contains("seconds") || !answer["seconds"].is_number() || !(answer["seconds"].get<double>() > 0))
    fail("a time that is no time: " + answer.dump().substr(0, 200));
  return answer["seconds"];
}

std::string peer_script(const std::string& folder, const std::string& name) {
  return fmt::format("{}/{}{}", folder, name, kScript);
}

std::vector<std::string> peer_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (fs::directory_iterator it(folder, none), end; !none && it != end; it.increment(none))
    if (const std::string file = it->path().filename().string(); file.ends_with(kScript))
      names.push_back(file.substr(0, file.size() - kScript.size()));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace mt
