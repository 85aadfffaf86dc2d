// expect-gcc: no matching function for call to
// expect-clang: no matching member function for call to
// An index is an integer.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const F32& b, const Out<f32>& y) {
#ifdef MISUSE
  y.store(a, b);
#else
  y.store(cast<u32>(a), b);
#endif
}
}  // namespace mt
