// expect: a device value has no host truth value: use if_(cond, [&]{...}), select(cond, a, b), & or |
// `!` makes another device value.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Bool& c, const Out<f32>& y) {
#ifdef MISUSE
  if (!c) y.store(i, a);
#else
  if_(!c, [&] { y.store(i, a); });
#endif
}
}  // namespace mt
