// expect-gcc: no matching function for call to
// expect-clang: no matching function for call to
// if_ takes a truth value.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  if_(a, [&] { y.store(i, a); });
#else
  if_(a != 0.f, [&] { y.store(i, a); });
#endif
}
}  // namespace mt
