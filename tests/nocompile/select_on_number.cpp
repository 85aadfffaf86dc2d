// expect-gcc: no matching function for call to
// expect-clang: no matching function for call to
// select takes a truth value.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const F32& b, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i, select(i, a, b));
#else
  y.store(i, select(i != 0, a, b));
#endif
}
}  // namespace mt
