// expect-gcc: no match for 'operator*'
// expect-clang: invalid operands to binary expression
// A host truth value is no number.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i, a * true);
#else
  y.store(i, a * 1.f);
#endif
}
}  // namespace mt
