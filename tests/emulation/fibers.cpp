#include "tests/emulation/fibers.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstring>
#include <memory>
#include <vector>

namespace mt::emulation {
namespace {

constexpr std::size_t kStack = 256 << 10;
constexpr int kLanesOfSimd = 32;
enum class State { Ready, AtSimd, AtGroup, Done };

struct Fiber {
  ucontext_t context;
  State state = State::Ready;
  MtHostIds ids{};
  unsigned parity = 0;
};

/// One threadgroup at a time.
class Scheduler {
 public:
  explicit Scheduler(int threads) : fibers_(static_cast<std::size_t>(threads)), slots_(fibers_.size() * 16) {
    stacks_ = mmap(nullptr, kStack * fibers_.size(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks_ == MAP_FAILED) throw Error("no memory for the stacks of emulated threads");
  }
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler() { munmap(stacks_, kStack * fibers_.size()); }

  void run(void (*thread)(void**), void** buffers, const unsigned (&group)[3]);
  void wait(State at) {
    Fiber& f = *current_;
    f.state = at;
    swapcontext(&f.context, &home_);
  }
  unsigned char* slots(unsigned parity) { return slots_.data() + parity * fibers_.size() * 8; }
  Fiber& current() { return *current_; }
  void finish() { current_->state = State::Done; }
  void call() { thread_(buffers_); }

 private:
  /// Lets those go on that all wait at one place; whether there were any.
  bool release() {
    bool any = false, group = true;
    for (const Fiber& f : fibers_) group = group && f.state == State::AtGroup;
    for (std::size_t s = 0; s < fibers_.size(); s += kLanesOfSimd) {
      bool simd = true;
      for (std::size_t l = s; l < s + kLanesOfSimd; ++l) simd = simd && fibers_[l].state == State::AtSimd;
      for (std::size_t l = s; (simd || group) && l < s + kLanesOfSimd; ++l) fibers_[l].state = State::Ready;
      any = any || simd || group;
    }
    return any;
  }

  std::vector<Fiber> fibers_;
  std::vector<unsigned char> slots_;
  void* stacks_ = nullptr;
  ucontext_t home_{};
  Fiber* current_ = nullptr;
  void (*thread_)(void**) = nullptr;
  void** buffers_ = nullptr;
};

thread_local Scheduler* active = nullptr;

void enter() {
  active->call();
  active->finish();
}

void Scheduler::run(void (*thread)(void**), void** buffers, const unsigned (&group)[3]) {
  thread_ = thread;
  buffers_ = buffers;
  active = this;
  for (std::size_t t = 0; t < fibers_.size(); ++t) {
    Fiber& f = fibers_[t];
    getcontext(&f.context);
    f.context.uc_stack = {static_cast<char*>(stacks_) + t * kStack, 0, kStack};
    f.context.uc_link = &home_;
    f.state = State::Ready;
    f.parity = 0;
    f.ids = {static_cast<unsigned>(t), {group[0], group[1], group[2]}};
    makecontext(&f.context, enter, 0);
  }
  for (bool more = true; more;) {
    bool ran = false;
    more = false;
    for (Fiber& f : fibers_) {
      if (f.state != State::Ready) continue;
      current_ = &f;
      ran = true;
      swapcontext(&home_, &f.context);
    }
    for (const Fiber& f : fibers_) more = more || f.state != State::Done;
    if (more && !release() && !ran) throw Error("threads wait at a barrier or an exchange that others never reach");
  }
}

}  // namespace

void run_threads(void (*thread)(void** buffers), void** buffers, int threads, const std::int64_t (&groups)[3]) {
  Scheduler scheduler(threads);
  for (unsigned z = 0; z < groups[2]; ++z)
    for (unsigned y = 0; y < groups[1]; ++y)
      for (unsigned x = 0; x < groups[0]; ++x) scheduler.run(thread, buffers, {x, y, z});
}

}  // namespace mt::emulation

extern "C" {
const MtHostIds* mt_host_ids() { return &mt::emulation::active->current().ids; }
void mt_host_barrier(int simd) {
  mt::emulation::active->wait(simd ? mt::emulation::State::AtSimd : mt::emulation::State::AtGroup);
}
const unsigned char* mt_host_exchange(const void* value, std::size_t bytes) {
  mt::emulation::Scheduler& s = *mt::emulation::active;
  const unsigned thread = s.current().ids.index;
  // Two sets of slots: a lane may give its next value while another still reads the last ones.
  unsigned char* slots = s.slots(s.current().parity ^= 1u);
  std::memcpy(slots + thread * 8, value, bytes);
  s.wait(mt::emulation::State::AtSimd);
  return slots + thread / 32 * 32 * 8;
}
}
