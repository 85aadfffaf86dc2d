// expect-gcc: cannot convert
// expect-clang: no matching function for call to
// simd_broadcast takes a lane known while tracing.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i, simd_broadcast(a, i));
#else
  y.store(i, simd_shuffle(a, i));
#endif
}
}  // namespace mt
