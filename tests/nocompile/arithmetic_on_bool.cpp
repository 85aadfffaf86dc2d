// expect-gcc: no match for 'operator+'
// expect-clang: invalid operands to binary expression
// Truth values are not counted; select makes numbers of them.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i, const Bool& c, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i, cast<f32>(c + c));
#else
  y.store(i, select(c, 2.f, F32(0.f)));
#endif
}
}  // namespace mt
