// A context of one GPU with its stream and its pool of memory. Some errors of a kernel (a bad address, say) end a
// context with all that is in it: it then says why to whoever still holds a part of it.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/driver.h"

namespace mt::cuda {

class Context {
 public:
  /// Throws Error where the device gives none (in exclusive use by another process, out of memory).
  Context(const Driver& driver, int ordinal);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// The driver, with this context current on the calling thread. Throws Error where the context has ended.
  const Driver& use() const;
  Handle stream() const { return stream_; }
  bool ended() const { return !ended_.empty(); }
  const std::string& why_ended() const { return ended_; }
  /// Throws Error for a status that is not success, and ends the context where the error is one that ends it.
  void check(Status status, const std::string& what);

  /// Memory aligned to at least 256 bytes, contents undefined. Throws Error where there is none left.
  Address allocate(std::size_t bytes);
  /// Back to the pool; later work of the stream may use it at once.
  void free(Address address, std::size_t bytes) noexcept;

  /// Notes a launch, so that an error that comes to light later can name it.
  void launched(std::string what);
  /// Waits for the stream. Throws Error for a launch that failed.
  void wait(const std::string& what = "waiting");

 private:
  void trim() noexcept;
  std::string suspects() const;

  const Driver& driver_;
  Handle context_ = nullptr, stream_ = nullptr;
  std::map<std::size_t, std::vector<Address>> pool_;  // by size
  std::size_t pooled_ = 0;                            // bytes
  std::deque<std::string> pending_;                   // launches since the last wait, the newest of them
  std::string ended_;                                 // why
};

}  // namespace mt::cuda
