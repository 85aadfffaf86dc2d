// expect-gcc: no match for 'operator='
// expect-clang: no viable overloaded
// A Var keeps its type.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, Var<u32>& count) {
#ifdef MISUSE
  count = a;
#else
  count = cast<u32>(a);
#endif
}
}  // namespace mt
