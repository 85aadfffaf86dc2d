// Any two texts are refused as bench documents or compared. The first zero byte parts them.
#include <string_view>

#include "mt/base/error.h"
#include "mt/harness/diff.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = std::min(all.find('\0'), all.size());
  const std::string before(all.substr(0, middle)), after(all.substr(std::min(middle + 1, size)));
  try {
    const auto differences = mt::compare_benchmarks(before, after, 0.03);
    (void)mt::difference_text(differences, true);
    (void)mt::regressions(differences);
  } catch (const mt::Error&) {
  }
  return 0;
}
