// expect-gcc: no match for 'operator+'
// expect-clang: invalid operands to binary expression
// No silent conversion between floats and integers.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i, a + i);
#else
  y.store(i, a + cast<f32>(i));
#endif
}
}  // namespace mt
