// expect-gcc: no match for 'operator+='
// expect-clang: no viable overloaded
// A value does not change; `+=` is for a Var.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const F32& b) {
#ifdef MISUSE
  F32 total = a;
  total += b;
#else
  Var<f32> total(a);
  total += b;
#endif
}
}  // namespace mt
