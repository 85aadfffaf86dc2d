// Time since it was made, by the steady clock.
#pragma once
#include <chrono>

namespace mt {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  double milliseconds() const { return 1e3 * seconds(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace mt
