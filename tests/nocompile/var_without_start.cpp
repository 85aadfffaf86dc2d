// expect-gcc: no matching function for call to
// expect-clang: no matching constructor for initialization
// A Var starts as something; nothing is undefined.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  Var<f32> z;
  y.store(i, z);
#else
  Var<f32> z(0.f);
  y.store(i, z);
#endif
}
}  // namespace mt
