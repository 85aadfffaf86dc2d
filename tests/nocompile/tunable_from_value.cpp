// expect-gcc: no matching function for call to
// expect-clang: no matching constructor for initialization
// A threadgroup array has a size known while tracing.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i, const U32& n, const Out<f32>& y) {
#ifdef MISUSE
  const Shared<f32> part("part", n);
  y.store(i, part[i]);
#else
  const Shared<f32> part("part", simd_count());
  y.store(i, part[i]);
#endif
}
}  // namespace mt
