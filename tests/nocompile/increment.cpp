// expect-gcc: no match for 'operator++'
// expect-clang: cannot increment value
// Device counters count with `+= 1`.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i) {
#ifdef MISUSE
  Var<u32> k(i);
  ++k;
#else
  Var<u32> k(i);
  k += 1;
#endif
}
}  // namespace mt
