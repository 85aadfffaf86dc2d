// expect: a device value has no host truth value: use if_(cond, [&]{...}), select(cond, a, b), & or |
// A number is no condition, neither on the host nor on the device.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  if (i) y.store(i, a);
#else
  if_(i != 0, [&] { y.store(i, a); });
#endif
}
}  // namespace mt
