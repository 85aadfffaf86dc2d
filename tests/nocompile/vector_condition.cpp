// expect-gcc: no matching function for call to
// expect-clang: no matching function for call to
// Lanes may differ; a branch needs one answer.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i, const Out<f32>& y, const Vec<f32>& v) {
#ifdef MISUSE
  if_(v > 0.f, [&] { y.store(i, v); });
#else
  y.store(i, select(v > 0.f, v, 0.f));
#endif
}
}  // namespace mt
