// Threads that share out a range. oneTBB where it is installed, else a pool of its own.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

namespace mt::cpu {

class Workers {
 public:
  explicit Workers(int threads);
  ~Workers();
  /// Calls body(begin, end) for pieces of [0, total), each at most `piece` long, on several threads; returns when all
  /// are done. A piece that throws lets the first exception out. One call at a time.
  void run(std::int64_t total, std::int64_t piece, const std::function<void(std::int64_t, std::int64_t)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mt::cpu
