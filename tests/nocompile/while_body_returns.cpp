// expect: a while_ body returns nothing: assign to a Var declared outside
// Neither from while_.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& n, Var<u32>& count) {
#ifdef MISUSE
  while_([&] { return count < n; }, [&] { return count + 1; });
#else
  while_([&] { return count < n; }, [&] { count += 1; });
#endif
}
}  // namespace mt
