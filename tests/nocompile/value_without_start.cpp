// expect-gcc: no matching function for call to
// expect-clang: no matching constructor for initialization
// A value is made by what computes it.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const F32& b, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  F32 z;
  y.store(i, z);
#else
  const F32 z = a + b;
  y.store(i, z);
#endif
}
}  // namespace mt
