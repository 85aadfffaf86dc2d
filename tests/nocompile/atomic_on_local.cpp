// expect-gcc: no matching function for call to
// expect-clang: invalid reference to function
// An array of one thread needs no atomics.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Local<f32>& own) {
#ifdef MISUSE
  own.atomic(Combine::Sum, i, a);
#else
  own[i] = own[i] + a;
#endif
}
}  // namespace mt
