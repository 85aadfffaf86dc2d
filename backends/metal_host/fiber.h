// Stacks that one OS thread runs in turn: a switch saves the registers that a call must keep, and nothing else.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mt::metal_host {

/// Whether this machine has a context switch written for it, and loads Linux's objects.
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
inline constexpr bool kHasFibers = true;
#else
inline constexpr bool kHasFibers = false;
#endif

extern "C" {
/// Keeps the running context at *save and goes on with the one that was kept as `to`.
void mt_fiber_switch(void** save, void* to);
/// Where a context that was kept goes on; its stack pointer is the value that was kept.
void mt_fiber_resume();
}

/// Stacks of one size with an inaccessible page below each.
class Stacks {
 public:
  static constexpr std::size_t kBytes = 256 << 10;  // of one stack with its guard page
  Stacks() = default;
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks();
  /// Makes sure that there are `count`. Throws Error where there is no memory.
  void reserve(std::size_t count);
  /// A context in stack `i` that calls entry(argument) when it is first switched to; `entry` must not return. Tops are
  /// spread over cache sets.
  void* start(std::size_t i, void (*entry)(void*), void* argument) const;
  /// Usable bytes of stack `i`.
  std::byte* begin(std::size_t i) const { return base_ + i * kBytes + guard_; }
  std::byte* end(std::size_t i) const { return base_ + (i + 1) * kBytes; }
  /// The stack whose guard page holds `address`; -1 where none does.
  std::ptrdiff_t overflowed(const void* address) const;

 private:
  std::byte* base_ = nullptr;
  std::size_t count_ = 0, guard_ = 4096;
};

}  // namespace mt::metal_host
