// Another library that computes and times the same problems in a process of its own, to stand beside a kernel.
//
// The process reads one JSON object a line from its standard input and answers each with one line:
//   {"op": "hello"}                                    {"ok": true, "version": "torch 2.11.0 on NVIDIA H200"}
//   {"op": "prepare", "kernel": "mt_softmax", "dtype": "bf16", "sizes": {"n": 8192}, "reals": {}, "copies": 3,
//    "tensors": [{"name": "x", "dtype": "bf16", "shape": [4096, 8192], "access": "in", "file": "/tmp/.../x"}, ...]}
//                                                      {"ok": true, "ways": ["eager", "compiled"]}
//   {"op": "run", "way": "eager"}                      {"ok": true}, with the outputs in their files
//   {"op": "time", "way": "eager"}                     {"ok": true, "seconds": 0.0000351}, of one call
// A `false` in "ok" comes with a sentence in "error". "copies" are the sets of tensors that timed calls rotate through.
// The end of its input ends the process.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "mt/base/host_tensor.h"
#include "mt/harness/runner.h"

namespace mt {

class Peer {
 public:
  /// `command` starts the process; `name` is what users call the peer. Throws Error where it does not answer.
  Peer(std::string name, std::vector<std::string> command);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const std::string& name() const { return name_; }
  /// What the process says of itself.
  const std::string& version() const { return version_; }

  /// Gives it a problem with its inputs; the ways it computes it. Starts the process anew where it has ended. Throws
  /// Error, also where it has no counterpart of the kernel.
  std::vector<std::string> prepare(const KernelEntry& entry, const Call& call,
                                   const std::map<std::string, HostTensor>& inputs, std::size_t copies);
  /// Outputs of the prepared problem. Throws Error.
  std::vector<HostTensor> outputs(const std::string& way);
  /// Seconds of one call. Throws Error.
  double sample(const std::string& way);

 private:
  void start();
  void stop();
  /// Sends a line and gives the answer as text of a JSON object whose "ok" is true. Throws Error.
  std::string ask(const std::string& line, double seconds);
  std::string read_line(double seconds);
  [[noreturn]] void fail(const std::string& what);

  std::string name_, version_, folder_, buffer_;
  std::vector<std::string> command_;
  pid_t process_ = -1;
  int socket_ = -1;
  std::vector<TensorSlot> outputs_;  // of the prepared problem
};

/// The script of a peer: `torch_peer.py` for torch.
std::string peer_script(const std::string& folder, const std::string& name);
/// The peers that a folder of scripts offers, by name.
std::vector<std::string> peer_names(const std::string& folder);

}  // namespace mt
