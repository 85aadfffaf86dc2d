#include "backends/cpu/workers.h"

#ifdef MT_TBB
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace mt::cpu {

struct Workers::State {
  explicit State(int threads) : arena(threads) {}
  tbb::task_arena arena;
};

Workers::Workers(int threads) : state_(std::make_unique<State>(threads)) {}
Workers::~Workers() = default;

void Workers::run(std::int64_t total, std::int64_t piece, const std::function<void(std::int64_t, std::int64_t)>& body) {
  const tbb::blocked_range<std::int64_t> all(0, total, static_cast<std::size_t>(piece));
  state_->arena.execute(
      [&] { tbb::parallel_for(all, [&](const tbb::blocked_range<std::int64_t>& r) { body(r.begin(), r.end()); }); });
}

}  // namespace mt::cpu

#else
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace mt::cpu {

struct Workers::State {
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable wake, finished;
  std::uint64_t round = 0;
  std::size_t busy = 0;
  bool quit = false;
  const std::function<void(std::int64_t, std::int64_t)>* body = nullptr;
  std::int64_t total = 0, piece = 1;
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failed;

  void work() {
    for (;;) {
      const std::int64_t begin = next.fetch_add(piece);
      if (begin >= total) return;
      try {
        (*body)(begin, std::min(total, begin + piece));
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failed) failed = std::current_exception();
      }
    }
  }
  void loop() {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return quit || round != seen; });
      if (quit) return;
      seen = round;
      lock.unlock();
      work();
      lock.lock();
      if (--busy == 0) finished.notify_one();
    }
  }
};

Workers::Workers(int threads) : state_(std::make_unique<State>()) {
  for (int t = 1; t < threads; ++t) state_->threads.emplace_back([s = state_.get()] { s->loop(); });
}
Workers::~Workers() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->quit = true;
  }
  state_->wake.notify_all();
  for (std::thread& t : state_->threads) t.join();
}

void Workers::run(std::int64_t total, std::int64_t piece, const std::function<void(std::int64_t, std::int64_t)>& body) {
  State& s = *state_;
  {
    const std::lock_guard lock(s.mutex);
    s.body = &body;
    s.total = total;
    s.piece = piece;
    s.next = 0;
    s.busy = s.threads.size();
    s.failed = nullptr;
    ++s.round;
  }
  s.wake.notify_all();
  s.work();
  std::unique_lock lock(s.mutex);
  s.finished.wait(lock, [&] { return s.busy == 0; });
  if (s.failed) std::rethrow_exception(s.failed);
}

}  // namespace mt::cpu
#endif
