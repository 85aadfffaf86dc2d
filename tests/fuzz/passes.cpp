// Any kernel that verifies goes through all passes, which keep it verified, or is refused with a sentence.
#include "mt/ir/text.h"
#include "mt/passes/pipeline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mt::Result<mt::Kernel> k = mt::parse({reinterpret_cast<const char*>(data), size});
  if (!k) return 0;
  for (const bool gpu : {true, false}) {
    mt::Kernel kernel = *k;
    try {
      mt::optimise(kernel, {.lower_group_reduce = gpu, .contiguous_simds = !gpu});
    } catch (const mt::Error&) {
    }
  }
  return 0;
}
