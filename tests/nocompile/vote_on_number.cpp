// expect-gcc: invalid initialization of reference
// expect-clang: no matching function for call to
// A vote counts truth values.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  if_(simd_any(a), [&] { y.store(i, a); });
#else
  if_(simd_any(a != 0.f), [&] { y.store(i, a); });
#endif
}
}  // namespace mt
