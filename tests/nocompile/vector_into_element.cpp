// expect-gcc: no match for 'operator='
// expect-clang: no viable overloaded
// One element of an array holds one number.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i, const Vec<f32>& v, const Shared<f32>& tg) {
#ifdef MISUSE
  tg[i] = v;
#else
  tg.store(i, v);
#endif
}
}  // namespace mt
