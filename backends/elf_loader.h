// Loads one relocatable ELF object into memory that is executable and no longer writable.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mt/base/error.h"

namespace mt {

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
  const void* begin() const { return memory_; }

 private:
  void* memory_;
  std::size_t bytes_;
  void* entry_;
};

/// Places the allocated sections of `object` (ELF64 of this machine), applies its relocations and finds `symbol`.
/// External names come from a fixed table (memory and libm functions). An object that asks for anything else, or that
/// is damaged, is an Error.
Result<std::unique_ptr<Code>> load_object(std::string_view object, const char* symbol);

/// A section of an object where it was placed.
struct LoadedSection {
  std::string name;
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
};

struct LoadedObject {
  std::unique_ptr<Code> code;
  std::vector<LoadedSection> sections;
  /// The global functions and variables that the object defines.
  std::vector<std::pair<std::string, void*>> symbols;
  void* find(std::string_view name) const {
    for (const auto& [n, address] : symbols)
      if (n == name) return address;
    return nullptr;
  }
};

/// Address of an external function or variable, or null. Asked before the fixed table.
using ResolveExternal = std::function<void*(std::string_view name)>;

/// Places the whole object; external names come from `external`, then from the fixed table.
Result<LoadedObject> load_object(std::string_view object, const ResolveExternal& external);

}  // namespace mt
