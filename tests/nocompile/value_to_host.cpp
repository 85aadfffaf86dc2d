// expect-gcc: cannot convert
// expect-clang: no viable conversion
// The host cannot read a device value.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  const int k = i;
  y.store(k, a);
#else
  const U32 k = i;
  y.store(k, a);
#endif
}
}  // namespace mt
