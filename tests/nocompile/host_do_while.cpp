// expect: a device value has no host truth value: use if_(cond, [&]{...}), select(cond, a, b), & or |
// The same with the condition at the end.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& n, Var<u32>& count) {
#ifdef MISUSE
  do count += 1;
  while (count < n);
#else
  count += 1;
  while_([&] { return count < n; }, [&] { count += 1; });
#endif
}
}  // namespace mt
