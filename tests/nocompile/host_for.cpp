// expect: a device value has no host truth value: use if_(cond, [&]{...}), select(cond, a, b), & or |
// A host `for` unrolls; its bound must be a host number.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& n, const Out<f32>& y) {
#ifdef MISUSE
  for (int k = 0; k < n; ++k) y.store(k, a);
#else
  for_(n, [&](const U32& k) { y.store(k, a); });
#endif
}
}  // namespace mt
