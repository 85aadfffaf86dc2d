// expect-gcc: cannot convert
// expect-clang: no matching function for call to
// exp takes f32.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i, exp(i));
#else
  y.store(i, exp(cast<f32>(i)));
#endif
}
}  // namespace mt
