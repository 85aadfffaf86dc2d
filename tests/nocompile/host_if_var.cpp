// expect: a device value has no host truth value: use if_(cond, [&]{...}), select(cond, a, b), & or |
// A Var is a device value too.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y, Var<f32>& var) {
#ifdef MISUSE
  if (var > 0.f) y.store(i, a);
#else
  if_(var > 0.f, [&] { y.store(i, a); });
#endif
}
}  // namespace mt
