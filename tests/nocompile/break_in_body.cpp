// expect-gcc: break statement not within loop or switch
// expect-clang: 'break' statement not in loop or switch statement
// A body is a function; `break` does not leave a device loop.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i, const U32& n) {
#ifdef MISUSE
  for_(n, [&](const U32& k) { if_(k == i, [&] { break; }); });
#else
  Var<u32> k(0);
  while_([&] { return (k < n) & (k != i); }, [&] { k += 1; });
#endif
}
}  // namespace mt
