// expect-gcc: no match for 'operator[]'
// expect-clang: no viable overloaded operator[]
// Which lane of a vector is chosen while tracing.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i, const Out<f32>& y, const Vec<f32>& v) {
#ifdef MISUSE
  y.store(i, v[i]);
#else
  for (int e : unroll(v.lanes())) if_(i == e, [&] { y.store(i, v[e]); });
#endif
}
}  // namespace mt
