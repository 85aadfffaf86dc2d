// Any text is refused with a sentence or is a kernel that prints and parses back to itself.
#include <cstdlib>

#include "mt/ir/text.h"
#include "mt/ir/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const mt::Result<mt::Kernel> k = mt::parse({reinterpret_cast<const char*>(data), size});
  if (!k) return 0;
  const std::string text = mt::print(*k);
  const mt::Result<mt::Kernel> again = mt::parse(text);
  if (!again || mt::print(*again) != text) std::abort();
  return 0;
}
