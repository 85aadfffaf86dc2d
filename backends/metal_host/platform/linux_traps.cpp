#include "backends/metal_host/traps.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <ctime>
#include <mutex>

#include "backends/metal_host/group_runner.h"
#include "mt/base/error.h"

namespace mt::metal_host {
namespace {

constexpr int kTick = SIGVTALRM;
constexpr int kTrapped[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
struct sigaction previous[65];

const void* pc_of(const ucontext_t& c) {
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(c.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(c.uc_mcontext.pc);
#else
  (void)c;
  return nullptr;
#endif
}

/// Makes the interrupted thread go on in the scheduler, as if its fiber had switched to it.
void abandon(ucontext_t& c, void* scheduler) {
#if defined(__x86_64__)
  c.uc_mcontext.gregs[REG_RSP] = reinterpret_cast<greg_t>(scheduler);
  c.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&mt_fiber_resume);
#elif defined(__aarch64__)
  c.uc_mcontext.sp = reinterpret_cast<std::uint64_t>(scheduler);
  c.uc_mcontext.pc = reinterpret_cast<std::uint64_t>(&mt_fiber_resume);
#else
  (void)c;
  (void)scheduler;
#endif
}

void on_tick(int, siginfo_t*, void* context) {
  GroupRunner* r = GroupRunner::current();
  if (!r || !r->in_fiber() || !r->tick()) return;
  auto& c = *static_cast<ucontext_t*>(context);
  // Elsewhere, in a function of the runtime or of libm, the next tick or the next switch will do.
  if (!r->in_code(pc_of(c))) return;
  r->trap({GroupRunner::Trap::Budget, nullptr, pc_of(c)});
  abandon(c, r->scheduler());
}

void on_trap(int signal, siginfo_t* info, void* context) {
  GroupRunner* r = GroupRunner::current();
  if (!r || !r->in_fiber()) {
    // Not ours: the instruction runs again under the handler that was there before.
    sigaction(signal, &previous[signal], nullptr);
    return;
  }
  auto& c = *static_cast<ucontext_t*>(context);
  const auto kind = signal == SIGFPE   ? GroupRunner::Trap::Arithmetic
                    : signal == SIGILL ? GroupRunner::Trap::Instruction
                                       : GroupRunner::Trap::Memory;
  // The kernel's own sends no address with an access that no address can describe.
  r->trap({kind, info->si_code == SI_KERNEL ? nullptr : info->si_addr, pc_of(c)});
  abandon(c, r->scheduler());
}

void install() {
  struct sigaction a {};
  sigemptyset(&a.sa_mask);
  a.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  a.sa_sigaction = on_tick;
  sigaction(kTick, &a, &previous[kTick]);
  a.sa_sigaction = on_trap;
  for (const int s : kTrapped) sigaction(s, &a, &previous[s]);
}

}  // namespace

struct BudgetClock::State {
  timer_t timer{};
  stack_t before{};
};

BudgetClock::BudgetClock(std::byte* stack, double tick_seconds) : state_(std::make_unique<State>()) {
  static std::once_flag once;
  std::call_once(once, install);
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = kSignalStack;
  if (sigaltstack(&alternative, &state_->before) != 0) throw Error("metal-host: no stack for signals");
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kTick;
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
  event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &state_->timer) != 0) {
    sigaltstack(&state_->before, nullptr);
    throw Error("metal-host: no timer for the budget of a threadgroup");
  }
  itimerspec every{};
  every.it_value.tv_sec = static_cast<time_t>(tick_seconds);
  every.it_value.tv_nsec = static_cast<long>((tick_seconds - static_cast<double>(every.it_value.tv_sec)) * 1e9);
  every.it_interval = every.it_value;
  timer_settime(state_->timer, 0, &every, nullptr);
}

BudgetClock::~BudgetClock() {
  timer_delete(state_->timer);
  sigaltstack(&state_->before, nullptr);
}

}  // namespace mt::metal_host
