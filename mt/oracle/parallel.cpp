#include "mt/oracle/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace mt::oracle {

void parallel_for(std::int64_t count, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  const std::int64_t pieces = (count + grain - 1) / grain;
  std::atomic<std::int64_t> next = 0;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    for (std::int64_t piece = next++; piece < pieces; piece = next++) {
      try {
        body(piece * grain, std::min(count, (piece + 1) * grain));
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next = pieces;
      }
    }
  };
  const std::int64_t cores = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (std::int64_t i = 1; i < std::min(cores, pieces); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace mt::oracle
