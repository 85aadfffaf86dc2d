// expect-gcc: no match for 'operator+'
// expect-clang: invalid operands to binary expression
// A fraction cannot be added to an integer.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i + 0.5f, a);
#else
  y.store(i + 1, a);
#endif
}
}  // namespace mt
