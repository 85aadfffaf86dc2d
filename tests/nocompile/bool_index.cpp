// expect-gcc: no matching function for call to
// expect-clang: no matching member function for call to
// A truth value is no index.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& b, const Bool& c, const Out<f32>& y) {
#ifdef MISUSE
  y.store(c, b);
#else
  y.store(select(c, U32(1), U32(0)), b);
#endif
}
}  // namespace mt
