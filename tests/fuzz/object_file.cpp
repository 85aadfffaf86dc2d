// Any bytes are refused or are an object whose code lies in memory; nothing of it runs.
#include "backends/elf_loader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)mt::load_object({reinterpret_cast<const char*>(data), size}, "mt_kernel");
  return 0;
}
