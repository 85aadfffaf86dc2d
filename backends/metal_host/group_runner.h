// Runs one threadgroup after another on the calling OS thread: a fiber for each GPU thread.
//
// A simdgroup runs until each of its lanes waits or has ended. Where lanes wait at a simd operation it is completed for
// those that came, which are its active lanes, and they go on; where all wait at the threadgroup's barrier the next
// simdgroup runs, and when all have come, the barrier opens.
#pragma once
#include <csignal>
#include <memory>
#include <random>
#include <vector>

#include "backends/metal_host/fiber.h"
#include "backends/metal_host/guarded_memory.h"
#include "backends/metal_host/launch.h"

namespace mt::metal_host {

class BudgetClock;
class Checker;

struct Fiber {
  void* sp = nullptr;
  std::uint32_t simd = 0, lane = 0;
  std::uint32_t op = 0;        // of the operation it waits at: an msl_simd_op, or the barrier's flags
  const void* site = nullptr;  // where
  msl_context context{};
};

struct Simdgroup {
  alignas(64) std::byte slots[2][MSL_LANES][MSL_SLOT_BYTES];
  std::uint32_t phase = 0;
  std::uint32_t all = 0;  // its lanes, as bits
  std::uint32_t ready = 0, at_simd = 0, at_barrier = 0, ended = 0;
  std::uint32_t active = 0;  // of the last simd operation
};

/// A threadgroup array.
struct GroupArray {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::string name;
  bool made = false;
};

class GroupRunner {
 public:
  GroupRunner();
  ~GroupRunner();
  GroupRunner(const GroupRunner&) = delete;
  GroupRunner& operator=(const GroupRunner&) = delete;

  /// The runner whose fiber the calling OS thread is in; null outside.
  static GroupRunner* current();

  /// Makes the runner the calling thread's for one launch, with its traps and its budget. Throws Error.
  void begin(const Launch& launch);
  void end();
  /// False where it ended in a fault.
  bool run(const std::array<std::uint32_t, 3>& group);
  const std::optional<Fault>& fault() const { return fault_; }
  const LaunchCounts& counts() const { return counts_; }

  // From inside a fiber.
  void barrier(std::uint32_t flags, const void* site);
  const std::byte* simd(std::uint32_t op, const void* value, std::uint32_t bytes, const void* site);
  std::byte* array(std::uint32_t id, std::size_t bytes, std::size_t align, const char* name, const void* site);
  const Fiber& fiber() const { return *current_; }
  std::uint32_t active() const { return simds_[current_->simd].active; }
  /// Ends the launch; does not return.
  [[noreturn]] void fail(Fault fault);
  Checker* checker() const { return checker_.get(); }

  /// `thread 5 of threadgroup (0, 1, 0)`.
  std::string who(std::uint32_t thread) const;
  const Launch& launch() const { return *launch_; }
  const Stacks& stacks() const { return stacks_; }
  const std::vector<Fiber>& fibers() const { return fibers_; }
  const Simdgroup* simds() const { return simds_.get(); }
  const std::array<std::uint32_t, 3>& group() const { return group_; }

  // From a signal handler, on the runner's own OS thread.
  struct Trap {
    enum Kind : std::uint8_t { None, Memory, Arithmetic, Instruction, Budget } kind = None;
    const void* address = nullptr;
    const void* pc = nullptr;
  };
  bool in_fiber() const { return in_fiber_ != 0; }
  bool in_code(const void* pc) const;
  /// A tick of the budget's clock; whether the threadgroup has used all of it.
  bool tick();
  void trap(const Trap& t) { trap_ = t; }
  void* scheduler() const { return main_; }

 private:
  static void enter(void* fiber);
  void place_threadgroup_memory();
  void start(const std::array<std::uint32_t, 3>& group);
  void leave();
  Fiber& pick(std::uint32_t simd);
  void resume(Fiber& f);
  bool run_simd(std::uint32_t simd);
  bool complete_simd(std::uint32_t simd);
  bool open_barrier();
  void report_trap();
  std::string operation(const Fiber& f) const;

  const Launch* launch_ = nullptr;
  Stacks stacks_;
  std::vector<Fiber> fibers_;
  std::unique_ptr<Simdgroup[]> simds_;
  std::uint32_t simd_room_ = 0, thread_count_ = 0, simd_count_ = 0;
  Fiber* current_ = nullptr;
  void* main_ = nullptr;
  volatile std::sig_atomic_t in_fiber_ = 0;
  volatile bool stopping_ = false;
  Trap trap_;
  std::optional<Fault> fault_;
  LaunchCounts counts_;
  std::array<std::uint32_t, 3> group_{};
  std::vector<std::uint32_t> order_;  // of simdgroups
  std::mt19937_64 random_;

  GuardedMemory memory_;  // for threadgroup arrays
  std::size_t used_ = 0, provided_ = 0;
  std::vector<GroupArray> arrays_, parameters_;

  std::unique_ptr<Checker> checker_;
  std::unique_ptr<std::byte[]> signal_stack_;
  std::unique_ptr<BudgetClock> clock_;
  volatile std::uint64_t serial_ = 0;  // of threadgroups
  std::uint64_t seen_ = 0;
  double ticks_ = 0, tick_seconds_ = 0;
};

}  // namespace mt::metal_host
