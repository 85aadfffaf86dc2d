// expect-gcc: no match for 'operator+'
// expect-clang: invalid operands to binary expression
// Storage types are not computed with: widen, compute in f32, round once.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i, const Shared<f16>& halves) {
#ifdef MISUSE
  halves[i] = halves[i] + halves[0];
#else
  halves[i] = cast<f16>(cast<f32>(halves[i]) + cast<f32>(halves[0]));
#endif
}
}  // namespace mt
