// From LLVM IR text to code in memory: the cache first, the LLVM plugin only on a miss.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "backends/elf_loader.h"
#include "backends/object_cache.h"

namespace mt::cpu {

struct CompiledText {
  std::unique_ptr<Code> code;
  bool from_cache = false;
  std::size_t object_bytes = 0;
};

/// Why this build can compile nothing; empty where LLVM was found when it was made, or a plugin is named.
std::string why_unavailable();

/// The objects of this backend.
ObjectCache& object_cache();

/// Code for `text`. `what` names the kernel in messages. Throws Error.
CompiledText compile_text(const std::string& text, std::string_view what, ObjectCache& cache);

/// Key of the text's object: the text and everything else that the object depends on.
std::string object_key(std::string_view text);

}  // namespace mt::cpu
