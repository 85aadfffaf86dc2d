// Memory for kernels that are not trusted: what touches bytes beside it traps.
#pragma once
#include <cstddef>

namespace mt::metal_host {

class GuardedMemory {
 public:
  /// Bytes on either side that nobody may touch: more than an index of 32 bits and a stray base usually miss by.
  static constexpr std::size_t kGuard = std::size_t{1} << 30;
  enum class Align { Begin, End };
  /// Zero-filled. Begin: starts at a page, up to a page behind the end can be touched. End: starts at a multiple of 16,
  /// up to 15 bytes behind the end can be touched. Throws Error where there is no memory.
  GuardedMemory(std::size_t bytes, Align align);
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t bytes_, mapped_ = 0;
};

}  // namespace mt::metal_host
