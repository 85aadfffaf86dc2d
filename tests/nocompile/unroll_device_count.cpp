// expect-gcc: no matching function for call to
// expect-clang: no matching conversion for functional-style cast
// unroll needs a count that is known while tracing.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& n, const Out<f32>& y) {
#ifdef MISUSE
  for (int k : unroll(n)) y.store(k, a);
#else
  for_(n, [&](const U32& k) { y.store(k, a); });
#endif
}
}  // namespace mt
