// expect-gcc: no matching function for call to
// expect-clang: no matching function for call to
// Both sides of select have one type.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Bool& c, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i, select(c, a, i));
#else
  y.store(i, select(c, a, cast<f32>(i)));
#endif
}
}  // namespace mt
