// expect-gcc: no matching function for call to
// expect-clang: no matching member function for call to
// An input is only read.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const In<f32>& x, const Out<f32>& y) {
#ifdef MISUSE
  x.store(i, a);
#else
  y.store(i, a);
#endif
}
}  // namespace mt
