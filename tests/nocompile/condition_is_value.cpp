// expect-gcc: no match for call to
// expect-clang: does not provide a call operator
// while_ asks again each round, so its condition is a function.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& n, Var<u32>& count) {
#ifdef MISUSE
  while_(count < n, [&] { count += 1; });
#else
  while_([&] { return count < n; }, [&] { count += 1; });
#endif
}
}  // namespace mt
