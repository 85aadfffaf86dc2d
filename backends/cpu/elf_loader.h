// Loads one relocatable ELF object into memory that is executable and no longer writable.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "mt/base/error.h"

namespace mt::cpu {

class Code {
 public:
  Code(void* memory, std::size_t bytes, void* entry) : memory_(memory), bytes_(bytes), entry_(entry) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code();
  template <class F>
  F entry() const {
    return reinterpret_cast<F>(entry_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void* memory_;
  std::size_t bytes_;
  void* entry_;
};

/// Places the allocated sections of `object` (ELF64 of this machine), applies its relocations and finds `symbol`.
/// External names come from a fixed table (memory and libm functions). An object that asks for anything else, or that
/// is damaged, is an Error.
Result<std::unique_ptr<Code>> load_object(std::string_view object, const char* symbol);

}  // namespace mt::cpu
