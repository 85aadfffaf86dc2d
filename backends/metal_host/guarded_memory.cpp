#include "backends/metal_host/guarded_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mt/base/error.h"

namespace mt::metal_host {

GuardedMemory::GuardedMemory(std::size_t bytes, Align align) : bytes_(bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t inner = (bytes + page - 1) / page * page;
  mapped_ = inner + 2 * kGuard;
  void* m = mapped_ > bytes ? mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                            : MAP_FAILED;
  if (m == MAP_FAILED) throw Error(fmt::format("metal-host: no memory for a buffer of {} bytes", bytes));
  base_ = static_cast<std::byte*>(m);
  data_ = base_ + kGuard;
  if (inner > 0 && mprotect(data_, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(base_, mapped_);
    throw Error(fmt::format("metal-host: no memory for a buffer of {} bytes", bytes));
  }
  if (align == Align::End) data_ += (inner - bytes) / 16 * 16;
}

GuardedMemory::~GuardedMemory() { munmap(base_, mapped_); }

}  // namespace mt::metal_host
