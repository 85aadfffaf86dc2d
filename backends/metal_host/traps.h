// Signals while a fiber runs: what a kernel does wrong ends its launch, not the process.
#pragma once
#include <cstddef>
#include <memory>

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
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mt::metal_host
