// Any bytes are lowered to some text, or refused, in a time that grows with their number.
#include "backends/metal_host/lower/lower.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, unsigned long size) {
  using namespace mt::metal_host;
  (void)lower(lex({reinterpret_cast<const char*>(data), size}, "text.metal"), {}, 310);
  return 0;
}
