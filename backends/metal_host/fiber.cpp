#include "backends/metal_host/fiber.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mt/base/error.h"

// The frame of a context that waits, from its stack pointer up: the registers in the order in which they are taken off,
// then the address to go on at.
#if defined(__linux__) && defined(__x86_64__)
asm(R"(
.text
.p2align 4
.globl mt_fiber_switch
.type mt_fiber_switch, @function
mt_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
.globl mt_fiber_resume
.type mt_fiber_resume, @function
mt_fiber_resume:
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size mt_fiber_switch, . - mt_fiber_switch

.globl mt_fiber_begin
.type mt_fiber_begin, @function
mt_fiber_begin:
  movq %r12, %rdi
  callq *%rbx
  ud2
.size mt_fiber_begin, . - mt_fiber_begin
)");
#elif defined(__linux__) && defined(__aarch64__)
asm(R"(
.text
.p2align 4
.globl mt_fiber_switch
.type mt_fiber_switch, %function
mt_fiber_switch:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
.globl mt_fiber_resume
.type mt_fiber_resume, %function
mt_fiber_resume:
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size mt_fiber_switch, . - mt_fiber_switch

.globl mt_fiber_begin
.type mt_fiber_begin, %function
mt_fiber_begin:
  mov x0, x20
  blr x19
  brk #1
.size mt_fiber_begin, . - mt_fiber_begin
)");
#else
extern "C" void mt_fiber_switch(void**, void*) { MT_ICE("no fibers on this machine"); }
extern "C" void mt_fiber_resume() { MT_ICE("no fibers on this machine"); }
extern "C" void mt_fiber_begin() { MT_ICE("no fibers on this machine"); }
#endif

namespace mt::metal_host {

extern "C" void mt_fiber_begin();

Stacks::~Stacks() {
  if (base_) munmap(base_, count_ * kBytes);
}

void Stacks::reserve(std::size_t count) {
  if (count <= count_) return;
  void* m = mmap(nullptr, count * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m == MAP_FAILED) throw Error(fmt::format("metal-host: no memory for {} stacks of {} bytes", count, kBytes));
  if (base_) munmap(base_, count_ * kBytes);
  base_ = static_cast<std::byte*>(m);
  count_ = count;
  guard_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < count; ++i)
    if (mprotect(base_ + i * kBytes, guard_, PROT_NONE) != 0)
      throw Error("metal-host: no guard pages; raise vm.max_map_count");
}

void* Stacks::start(std::size_t i, void (*entry)(void*), void* argument) const {
  // Without the spread, the same frame of all threads would fall into one set of the cache.
  constexpr std::size_t kColours = 61, kStep = 192;
  auto* top = reinterpret_cast<void**>(end(i) - 64 - i % kColours * kStep);
#if defined(__x86_64__)
  // On entry to a function the stack pointer is 8 below a multiple of 16: `begin` calls with it at a multiple.
  void** sp = top - 7;
  for (int k = 0; k < 6; ++k) sp[k] = nullptr;
  sp[3] = argument;                        // r12
  sp[4] = reinterpret_cast<void*>(entry);  // rbx
  sp[6] = reinterpret_cast<void*>(&mt_fiber_begin);
#else
  void** sp = top - 20;
  for (int k = 0; k < 20; ++k) sp[k] = nullptr;
  sp[0] = reinterpret_cast<void*>(entry);             // x19
  sp[1] = argument;                                   // x20
  sp[11] = reinterpret_cast<void*>(&mt_fiber_begin);  // x30
#endif
  return sp;
}

std::ptrdiff_t Stacks::overflowed(const void* address) const {
  const auto* p = static_cast<const std::byte*>(address);
  if (!base_ || p < base_ || p >= base_ + count_ * kBytes) return -1;
  const auto offset = static_cast<std::size_t>(p - base_);
  return offset % kBytes < guard_ ? static_cast<std::ptrdiff_t>(offset / kBytes) : -1;
}

}  // namespace mt::metal_host
