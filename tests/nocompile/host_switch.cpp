// expect-gcc: switch quantity not an integer
// expect-clang: statement requires expression of integer type
// A host `switch` chooses while tracing.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  switch (i) {
    case 0:
      y.store(0, a);
      break;
    default:
      break;
  }
#else
  if_(i == 0, [&] { y.store(0, a); });
#endif
}
}  // namespace mt
