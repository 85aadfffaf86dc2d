// expect-gcc: use of deleted function
// expect-clang: overload resolution selected deleted operator '='
// The lanes of a vector are values.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, VecVar<f32>& lanes) {
#ifdef MISUSE
  lanes[0] = a;
#else
  lanes = pack(4, [&](int e) { return e == 0 ? a : lanes[e]; });
#endif
}
}  // namespace mt
