// expect: a device value has no host truth value: use if_(cond, [&]{...}), select(cond, a, b), & or |
// A host `while` over device values would never end.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& n, Var<u32>& count) {
#ifdef MISUSE
  while (count < n) count += 1;
#else
  while_([&] { return count < n; }, [&] { count += 1; });
#endif
}
}  // namespace mt
