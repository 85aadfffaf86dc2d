// expect-gcc: use of deleted function
// expect-clang: overload resolution selected deleted operator '='
// A value is const; state is a Var.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const F32& b, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  F32 best = a;
  if_(b > a, [&] { best = b; });
  y.store(i, best);
#else
  Var<f32> best(a);
  if_(b > a, [&] { best = b; });
  y.store(i, best);
#endif
}
}  // namespace mt
