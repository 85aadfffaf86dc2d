// expect: a device value has no host truth value: use if_(cond, [&]{...}), select(cond, a, b), & or |
// A host `if` runs while tracing, when a device value is not known yet.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const F32& b, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  if (a > b) y.store(i, a);
#else
  if_(a > b, [&] { y.store(i, a); });
#endif
}
}  // namespace mt
