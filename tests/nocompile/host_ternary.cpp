// expect: a device value has no host truth value: use if_(cond, [&]{...}), select(cond, a, b), & or |
// `?:` chooses while tracing; select chooses on the device.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const F32& b, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i, a > b ? a : b);
#else
  y.store(i, select(a > b, a, b));
#endif
}
}  // namespace mt
