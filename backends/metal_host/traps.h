// Signals while a fiber runs: what a kernel does wrong ends its launch, not the process.
#pragma once
#include <signal.h>

#include <cstddef>
#include <ctime>

namespace mt::metal_host {

inline constexpr std::size_t kSignalStack = 64 << 10;

/// While it lives, the calling OS thread takes signals on `stack` and a tick each time it has used `tick_seconds` of
/// processor time.
class BudgetClock {
 public:
  BudgetClock(std::byte* stack, double tick_seconds);
  BudgetClock(const BudgetClock&) = delete;
  BudgetClock& operator=(const BudgetClock&) = delete;
  ~BudgetClock();

 private:
  timer_t timer_{};
  stack_t before_{};
};

}  // namespace mt::metal_host
