// expect-gcc: no type named
// expect-clang: no type named 'type'
// A for_ body is given its index.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const U32& n, const Out<f32>& y) {
#ifdef MISUSE
  for_(n, [&] { y.store(i, a); });
#else
  for_(n, [&](const U32&) { y.store(i, a); });
#endif
}
}  // namespace mt
