// expect: a device value has no host truth value: use if_(cond, [&]{...}), select(cond, a, b), & or |
// An element of an array is read on the device.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y, const Shared<f32>& tg) {
#ifdef MISUSE
  if (tg[i] > 0.f) y.store(i, a);
#else
  if_(tg[i] > 0.f, [&] { y.store(i, a); });
#endif
}
}  // namespace mt
