// expect-gcc: use of deleted function
// expect-clang: call to deleted constructor
// A copy of a Var could mean its value or the variable; say which.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i, const Out<f32>& y, Var<f32>& var) {
#ifdef MISUSE
  auto w = var;
  y.store(i, w);
#else
  const F32 w = var;
  y.store(i, w);
#endif
}
}  // namespace mt
